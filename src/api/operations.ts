// The OpenAPI operation of each endpoint: texts, parameters, and answers by status.

import type { Guard } from '../http/urls.ts'
import type { AnswerName } from './answer-tables.ts'
import { PARAMETERS } from './parameters.ts'
import { describeBody } from './request-tables.ts'

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1, maximum: 60 } },
}

const REFUSALS = {
  400: 'Malformed request or parameter.',
  401: 'A token (or a passphrase) is missing or not valid.',
  403: 'Not allowed for this account; or sent by another web site, or as a prefetch.',
  404: 'There is none.',
  408: 'The body took too long.',
  409: 'The first request with this `Idempotency-Key` still runs, or the push that it made has ended; a test still runs.',
  410: 'It has ended, or is not kept any more; a request is closed, used up or past its time.',
  413: 'The body is too large; names the limit and its flag.',
  415: 'This content type is not understood.',
  421: 'The Host is not a name of this server; names the flag to set.',
  422: 'Validation failed; names every field at fault.',
  429: 'Too many requests, wrong passphrases, or active pushes of one address.',
  500: 'A fault of the server.',
  503: 'Overloaded; nothing was stored or counted.',
  507: 'The disk of the server is full.',
}
type Refused = keyof typeof REFUSALS

/** Those that hold more than an error. */
const SCHEMAS: Partial<Record<Refused, AnswerName>> = {
  ...{ 401: 'PassphraseError', 422: 'ValidationError', 500: 'InternalError' },
}
const ALWAYS = [403, 421, 429, 500, 503] as const

/** An answer of an OpenAPI operation. */
export function describeAnswer(schema: AnswerName, description: string) {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } }
  return { description, content }
}

type Outcome = [status: 200 | 201, schema: AnswerName, description: string]

/** The `responses` member of an OpenAPI operation. */
export function responses([status, ...outcome]: Outcome, refused: readonly Refused[] = []) {
  const refusals = [...refused, ...ALWAYS].map((status) => {
    const answer = describeAnswer(SCHEMAS[status] ?? 'Error', REFUSALS[status])
    return [status, status === 429 || status === 503 ? { ...answer, headers: RETRY_AFTER } : answer]
  })
  return { ...Object.fromEntries(refusals), [status]: describeAnswer(...outcome) }
}

const { urlToken, page, before, passphraseHeader, passphrase, idempotencyKey } = PARAMETERS

const TOKENS = [{ token: [] }, { userToken: [] }, { basic: [] }]

/** The operation of a route, with the tokens that its guard asks for on this instance. */
export function describeGuard({ detail, guard, anonymousAccess }: Guarded): object {
  if (guard === 'open') return { ...detail, security: [{}] }
  const needsToken = guard !== 'visitor' || !anonymousAccess
  return { ...detail, security: needsToken ? TOKENS : [{}, ...TOKENS] }
}

type Guarded = { detail: object; guard: Guard; anonymousAccess: boolean }

export const OPERATIONS = {
  version: {
    tags: ['Instance'],
    summary: 'Version, capabilities and limits',
    operationId: 'getVersion',
    responses: responses([200, 'Version', 'About this server.']),
  },
  create: {
    tags: ['Pushes'],
    summary: 'Create a push',
    operationId: 'createPush',
    parameters: [idempotencyKey],
    requestBody: describeBody('Push'),
    responses: responses(
      [201, 'CreatedPush', 'The push; hand `html_url` to the recipient.'],
      [400, 401, 408, 409, 413, 415, 422, 507],
    ),
  },
  retrieve: {
    tags: ['Pushes'],
    summary: 'Retrieve the payload',
    description: 'Counts as a view, which is durable before the payload is sent, and may expire the push.',
    operationId: 'retrievePush',
    parameters: [urlToken, passphraseHeader, passphrase],
    responses: responses(
      [200, 'RetrievedPush', 'The payload, or `expired: true` without it.'],
      [400, 401, 404, 507],
    ),
  },
  expire: {
    tags: ['Pushes'],
    summary: 'Expire a push at once',
    description: 'For its owner, and for anybody when it is `deletable_by_viewer`.',
    operationId: 'expirePush',
    parameters: [urlToken],
    responses: responses([200, 'DeletedPush', 'The push, expired.'], [401, 403, 404, 507]),
  },
  edit: {
    tags: ['Owner'],
    summary: 'Edit a push of yours',
    description:
      'Changes name and note, also of an expired push, and limits so that it ends sooner. What is not given stays; `""` removes a name or a note. Nothing else of a push can be changed: any other member of a push that is given, whatever its value, is 422, and names each of them. Audited as `edit`, unless nothing changes.',
    operationId: 'editPush',
    parameters: [urlToken],
    requestBody: describeBody('PushEdit'),
    responses: responses(
      [200, 'ListedPush', 'The push as it is now.'],
      [400, 401, 403, 404, 408, 413, 415, 422, 507],
    ),
  },
  notify: {
    tags: ['Owner'],
    summary: 'Send the link of a push of yours by mail',
    description:
      'Each recipient gets a mail of their own with the link, never with the payload, unless the push ends before. Audited as `creation_email_send`. Only on servers that send mail: see `email_auto_dispatch`.',
    operationId: 'notifyEmails',
    parameters: [urlToken],
    requestBody: describeBody('LinkMail'),
    responses: responses(
      [200, 'Preview', 'The link. The mails are on their way.'],
      [400, 401, 403, 404, 408, 413, 415, 422, 507],
    ),
  },
  createRequest: {
    tags: ['Requests'],
    summary: 'Ask for a secret',
    description:
      'Makes a link under which anybody sends you text or files. Each answer becomes a push of yours, which is marked as received.',
    operationId: 'createRequest',
    requestBody: describeBody('Request'),
    responses: responses(
      [201, 'Request', 'The request; give `html_url` to the person who has the secret.'],
      [400, 401, 408, 413, 415, 422, 507],
    ),
  },
  requests: {
    tags: ['Requests'],
    summary: 'Your requests',
    operationId: 'listRequests',
    parameters: [page],
    responses: responses([200, 'RequestList', 'Newest first, 50 a page.'], [400, 401]),
  },
  request: {
    tags: ['Requests'],
    summary: 'A request of yours',
    operationId: 'getRequest',
    parameters: [urlToken],
    responses: responses([200, 'Request', 'The request.'], [401, 404]),
  },
  closeRequest: {
    tags: ['Requests'],
    summary: 'Close a request of yours',
    description: 'Ends its link at once. What has arrived stays.',
    operationId: 'closeRequest',
    parameters: [urlToken],
    responses: responses([200, 'Request', 'The request, closed.'], [401, 404]),
  },
  answer: {
    tags: ['Requests'],
    summary: 'Answer a request',
    description:
      'For whoever has the link of the request. What is sent becomes a push of its owner; the sender learns only that it has arrived. An upload of files reserves its answer before the first byte, until it fails or for 10 minutes. `passphrase` is that of the request; give it before the files, so that they are not sent in vain. Any other member is 422.',
    operationId: 'answerRequest',
    parameters: [urlToken, passphraseHeader, passphrase, idempotencyKey],
    requestBody: describeBody('Answer'),
    responses: responses(
      [201, 'Received', 'It has arrived.'],
      [400, 401, 404, 408, 409, 410, 413, 415, 422, 507],
    ),
  },
  preview: {
    tags: ['Pushes'],
    summary: 'The secret link, without a view',
    operationId: 'previewPush',
    parameters: [urlToken],
    responses: responses([200, 'Preview', 'The link.'], [401, 404]),
  },
  audit: {
    tags: ['Owner'],
    summary: 'The audit log of a push',
    operationId: 'auditPush',
    parameters: [urlToken, page],
    responses: responses([200, 'AuditLog', 'The entries.'], [400, 401, 403, 404]),
  },
  active: {
    tags: ['Owner'],
    summary: 'Your active pushes',
    operationId: 'listActivePushes',
    parameters: [page, before],
    responses: responses([200, 'PushList', 'Newest first.'], [400, 401, 404]),
  },
  expired: {
    tags: ['Owner'],
    summary: 'Your expired pushes',
    operationId: 'listExpiredPushes',
    parameters: [page, before],
    responses: responses([200, 'PushList', 'Newest first.'], [400, 401, 404]),
  },
}
