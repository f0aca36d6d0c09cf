// The answers of the API, one table each. Their TypeScript types and the reference derive from these tables,
// and tests validate every answer against them.

import { SIGN_IN_WAYS, type SignInWay } from '../domain/account.ts'
import { AUDIT_KINDS } from '../domain/audit.ts'
import { EVENT_TYPES } from '../domain/events.ts'
import { END_TO_END_RULES, type EndToEndRule } from '../domain/new-push.ts'
import { type DeliveryError, EXPLAINED, WEBHOOK_FORMATS } from '../domain/outbox.ts'
import { type Static, Type } from '../http/intake/members.ts'
import { URL_TOKEN } from './parameters.ts'
import { closed, count, flag, kind, listOf, nullable, text, time, uri } from './schemas.ts'

const endToEnd = {
  end_to_end: Type.Optional(flag('true for a push that its sender encrypted with age; not there otherwise.')),
  key_check: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}$',
      description: 'The first 4 bytes of SHA-256 of the recipient whose key stands in the link.',
    }),
  ),
}

const push = {
  url_token: Type.String({ ...URL_TOKEN, description: 'Addresses the push in paths.' }),
  html_url: uri('The secret link, to be handed to the recipient.'),
  json_url: uri(),
  kind,
  created_at: time('When it was created.'),
  updated_at: time('When anything last happened to it.'),
  expire_after_days: Type.Integer({ minimum: 1 }),
  expire_after_views: Type.Integer({ minimum: 1 }),
  days_remaining: count('Whole days left.'),
  views_remaining: count('Retrievals left.'),
  expires_at: time('The exact moment at which it expires.'),
  expired: Type.Boolean(),
  expired_on: nullable(time('When it expired.')),
  deleted: flag('Whether somebody expired it, rather than a limit.'),
  deletable_by_viewer: nullable(Type.Boolean()),
  retrieval_step: flag('Whether recipients are told first that opening uses up a view.'),
  passphrase: nullable(text('Always null: a passphrase is never given back.')),
  passphrase_required: Type.Boolean(),
  ...endToEnd,
}

const labels = {
  name: text('Label shown to the owner.'),
  note: text('Note visible to the owner only.'),
}

const received = {
  received: Type.Optional(flag('true for an answer to a request; not there for any other push.')),
  request: Type.Optional(
    nullable(
      text('The token of the request that it answers; null when a restore of the server has lost it.'),
    ),
  ),
}

const file = {
  filename: Type.String(),
  content_type: Type.String(),
  size: count('Bytes.'),
}

const createdFiles = {
  files: Type.Array(closed(file, 'A file.')),
  code: Type.Optional(text('Only with code_required: the two digits that pages ask the recipient for.')),
}

const retrievedFiles = {
  files: Type.Array(closed({ ...file, url: uri() }, 'A file and where to download it.')),
}

const range = closed(
  { min: Type.Integer(), max: Type.Integer(), default: Type.Integer() },
  'What is allowed, and what applies when omitted.',
)

const feature = (description: string) => closed({ enabled: Type.Boolean() }, description)

const features = closed(
  {
    anonymous_access: flag('Whether the API may be used without a token.'),
    api_token_authentication: Type.Boolean(),
    accounts: feature('The accounts API; not in this edition.'),
    pushes: closed(
      {
        enabled: Type.Boolean(),
        email_auto_dispatch: Type.Boolean(),
        file_attachments: closed(
          { enabled: Type.Boolean(), requires_authentication: Type.Boolean() },
          'Files.',
        ),
        url_pushes: feature('Pushes of a link.'),
        qr_code_pushes: feature('Pushes of a QR code.'),
      },
      'What can be pushed.',
    ),
    requests: feature('The requests API; not in this edition.'),
  },
  'Capabilities of this instance.',
)

const auditMembers = {
  ip: Type.String(),
  user_agent: Type.String(),
  referrer: text('Only its origin.'),
  kind: Type.String({
    description: `What happened: ${AUDIT_KINDS.map((kind) => `\`${kind}\``).join(', ')}. More kinds may come.`,
    example: 'view',
  }),
  created_at: time('When it happened.'),
  updated_at: time('The same.'),
}

const auditEntry = closed(auditMembers, 'One visit.')
const previousMembers = { ...auditMembers, successful: flag('False for `failed_…`.') }
const previousAuditEntry = closed(previousMembers, 'One visit.')

const about = {
  application_version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  api_version: Type.String(),
  edition: Type.String(),
}

const request = closed(
  {
    url_token: Type.String({ ...URL_TOKEN, description: 'Addresses the request in paths.' }),
    html_url: uri('The page on which anybody answers; to be given away.'),
    created_at: time('When it was made.'),
    expires_at: time('When it closes by itself.'),
    accept: Type.Array(Type.String({ enum: ['text', 'files'] })),
    name: text('Label shown to its owner.'),
    message: text('Shown to whoever has the link.'),
    max_answers: Type.Integer({ minimum: 1 }),
    answers: count('Answers that have arrived.'),
    passphrase_required: Type.Boolean(),
    recipient: nullable(text('The public key of age that answers are encrypted for.')),
    closed: flag('Whether it takes no answer any more: used up, closed, or past its time.'),
  },
  'A request for a secret, as its owner sees it.',
)

const listedPush = closed({ ...push, ...labels, ...received }, 'A push in a list of its owner.')

const event = closed(
  {
    id: count('Numbers the events of the account.'),
    type: Type.String({ enum: [...EVENT_TYPES], description: 'What happened. More types may come.' }),
    timestamp: time('When it happened.'),
    data: Type.Object(
      {
        push: Type.Optional(text('A random id of the push: the same in all of its events, and no link.')),
        kind: Type.Optional(kind),
        views_remaining: Type.Optional(count('Retrievals left.')),
        expires_at: Type.Optional(time('When it expires at the latest.')),
        expired: Type.Optional(flag('Whether it has expired.')),
      },
      { description: 'Never a name, note, link or payload.' },
    ),
  },
  'An event.',
)
const webhook = {
  id: count('Addresses the webhook in paths.'),
  host: text('Where it sends to; the rest of the URL is told to nobody.'),
  format: Type.String({ enum: [...WEBHOOK_FORMATS] }),
  events: Type.Array(Type.String({ enum: [...EVENT_TYPES] })),
  with_name: flag('Whether the name of a push is sent as well.'),
  created_at: time('When it was made.'),
  last_delivery: nullable(time('When a message last arrived.')),
  last_error: Type.Unsafe<DeliveryError | null>({
    type: 'string',
    nullable: true,
    enum: [...Object.keys(EXPLAINED), null],
    description: 'Why the last try failed.',
  }),
}
const listedWebhook = closed(webhook, 'A webhook of yours.')

/** The schemas, by their names in the reference. */
export const ANSWERS = {
  CreatedPush: closed(
    { ...push, ...labels, ...createdFiles },
    'A push as it was created, without its payload.',
  ),
  RetrievedPush: closed(
    { ...push, payload: nullable(text('null once expired.')), ...retrievedFiles },
    'A push with its payload, or without when it has expired.',
  ),
  DeletedPush: closed({ ...push, ...retrievedFiles }, 'A push that is expired now.'),
  ListedPush: listedPush,
  PushList: listOf<typeof listedPush>('ListedPush'),
  Request: request,
  RequestList: listOf<typeof request>('Request'),
  Received: closed(
    { received: flag('true: the answer has arrived.') },
    'What the sender of an answer learns.',
  ),
  Preview: closed(
    {
      url: uri('The secret link.'),
      expired: flag('Whether it can no longer be opened.'),
      passphrase_required: Type.Boolean(),
      ...endToEnd,
    },
    'The link of a push, and what its page tells: whether it has expired, and whether it needs a passphrase.',
  ),
  MailedLink: closed({ url: uri('The secret link.') }, 'The link of a push.'),
  AuditLog: closed({ logs: Type.Array(auditEntry) }, 'Oldest first, 50 a page.'),
  PreviousAuditLog: closed({ views: Type.Array(previousAuditEntry) }, 'Oldest first, 50 a page.'),
  EventPage: closed(
    { events: Type.Array(event), next: count('The `after` of the next request.') },
    'Oldest first.',
  ),
  Webhook: listedWebhook,
  WebhookList: listOf<typeof listedWebhook>('Webhook'),
  CreatedWebhook: closed(
    { ...webhook, secret: text('`whsec_` and base64: signs the messages. Shown this once.') },
    'A new webhook.',
  ),
  Version: closed(
    {
      ...about,
      features,
      extensions: closed(
        {
          requests: flag('Requests for secrets.'),
          events: flag('Events of an account.'),
          webhooks: flag('Webhooks of an account; false where the operator lists no host for them.'),
          end_to_end: Type.Unsafe<EndToEndRule>({
            type: 'string',
            enum: [...END_TO_END_RULES],
            description: 'Whether pushes may be end-to-end, as the setting --end-to-end says.',
          }),
          mail: flag('Links of pushes by mail; false where the operator names no mail server.'),
          sign_in: Type.Array(Type.Unsafe<SignInWay>({ type: 'string', enum: [...SIGN_IN_WAYS] }), {
            description: 'How people sign in to the pages. More ways may come.',
          }),
          policies: Type.Object(
            {
              require_second_factor: Type.Optional(Type.Boolean()),
              signup_domains: Type.Optional(Type.Array(Type.String())),
              require_passphrase: Type.Optional(Type.Boolean()),
              max_views_anonymous: Type.Optional(count('Views of a push without an account.')),
            },
            { additionalProperties: false, description: 'The rules of the house that are set.' },
          ),
        },
        'What Oncebox has beyond.',
      ),
      limits: closed(
        {
          payload_bytes: count('Bytes of a payload.'),
          file_bytes: count('Bytes of a file.'),
          files: count('Files of a push.'),
          expire_after_days: range,
          expire_after_views: range,
        },
        'Limits of this instance.',
      ),
    },
    'About this instance.',
  ),
  PreviousVersion: closed(about, 'About this instance.'),
  Error: closed({ error: Type.String() }, 'A refusal.'),
  PassphraseError: Type.Object(
    { error: Type.String(), message: Type.Optional(Type.String()), status: Type.Optional(Type.String()) },
    { additionalProperties: false, description: 'A token or a passphrase is missing or wrong.' },
  ),
  ValidationError: Type.Object(
    { error: Type.String() },
    {
      additionalProperties: Type.Array(Type.String()),
      description: 'One member for each field at fault, an array of messages.',
    },
  ),
  InternalError: closed(
    { error: Type.String(), request_id: Type.String() },
    'The cause is in the log of the server.',
  ),
}

export type AnswerName = keyof typeof ANSWERS

/** The JSON of an answer, by the name of its schema. */
export type AnswerBody<Name extends AnswerName> = Static<(typeof ANSWERS)[Name]>
