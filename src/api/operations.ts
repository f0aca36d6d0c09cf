// The operations of the API: their texts, parameters and answers. The reference adds the facts that follow
// from their URLs and bodies.

import type { API, Endpoint } from '../http/urls.ts'
import type { AnswerName } from './answer-tables.ts'
import { type ApiParameter, PARAMETERS } from './parameters.ts'
import type { BodyName } from './request-tables.ts'

export const REFUSALS = {
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
  429: 'Too many requests, wrong passphrases, mails, tests, or active pushes of one address.',
  500: 'A fault of the server.',
  503: 'Overloaded; nothing was stored or counted.',
  507: 'The disk of the server is full.',
}
export type RefusalStatus = keyof typeof REFUSALS

export type ApiOperation = {
  summary: string
  description?: string
  id: string
  /** Parameters in the query and in headers. */
  parameters?: readonly ApiParameter[]
  body?: BodyName
  answer: [status: 200 | 201, schema: AnswerName, description: string]
  /** Refusals besides those that follow from the URL, the parameters and the body. */
  refused?: readonly RefusalStatus[]
}

const { page, before, after, wait, passphraseHeader, passphrase, idempotencyKey } = PARAMETERS
const PASSPHRASE = [passphraseHeader, passphrase]

export const OPERATIONS = {
  version: {
    summary: 'Version, capabilities and limits',
    id: 'getVersion',
    answer: [200, 'Version', 'About this server.'],
  },
  create: {
    summary: 'Create a push',
    id: 'createPush',
    parameters: [idempotencyKey],
    body: 'Push',
    answer: [201, 'CreatedPush', 'The push; hand `html_url` to the recipient.'],
  },
  retrieve: {
    summary: 'Retrieve the payload',
    description: 'Counts as a view, which is durable before the payload is sent, and may expire the push.',
    id: 'retrievePush',
    parameters: PASSPHRASE,
    answer: [200, 'RetrievedPush', 'The payload, or `expired: true` without it.'],
    refused: [507],
  },
  expire: {
    summary: 'Expire a push at once',
    description: 'For its owner, and for anybody when it is `deletable_by_viewer`.',
    id: 'expirePush',
    answer: [200, 'DeletedPush', 'The push, expired.'],
    refused: [507],
  },
  preview: {
    summary: 'The secret link, without a view',
    id: 'previewPush',
    answer: [200, 'Preview', 'The link.'],
  },
  audit: {
    summary: 'The audit log of a push',
    id: 'auditPush',
    parameters: [page],
    answer: [200, 'AuditLog', 'The entries.'],
  },
  active: {
    summary: 'Your active pushes',
    id: 'listActivePushes',
    parameters: [page, before],
    answer: [200, 'PushList', 'Newest first.'],
    refused: [404],
  },
  expired: {
    summary: 'Your expired pushes',
    id: 'listExpiredPushes',
    parameters: [page, before],
    answer: [200, 'PushList', 'Newest first.'],
    refused: [404],
  },
  edit: {
    summary: 'Edit a push of yours',
    description:
      'Changes name and note, also of an expired push, and limits so that it ends sooner. What is not given stays; `""` removes a name or a note. Nothing else of a push can be changed: any other member of a push that is given, whatever its value, is 422, and names each of them. Audited as `edit`, unless nothing changes.',
    id: 'editPush',
    body: 'PushEdit',
    answer: [200, 'ListedPush', 'The push as it is now.'],
  },
  notify: {
    summary: 'Send the link of a push of yours by mail',
    description:
      'Each recipient gets a mail of their own with the link, never with the payload, unless the push ends before. Audited as `creation_email_send`. Only on servers that send mail: see `email_auto_dispatch`.',
    id: 'notifyEmails',
    body: 'LinkMail',
    answer: [200, 'MailedLink', 'The link. The mails are on their way.'],
  },
  createRequest: {
    summary: 'Ask for a secret',
    description:
      'Makes a link under which anybody sends you text or files. Each answer becomes a push of yours, which is marked as received.',
    id: 'createRequest',
    body: 'Request',
    answer: [201, 'Request', 'The request; give `html_url` to the person who has the secret.'],
  },
  requests: {
    summary: 'Your requests',
    id: 'listRequests',
    parameters: [page],
    answer: [200, 'RequestList', 'Newest first, 50 a page.'],
  },
  request: { summary: 'A request of yours', id: 'getRequest', answer: [200, 'Request', 'The request.'] },
  closeRequest: {
    summary: 'Close a request of yours',
    description: 'Ends its link at once. What has arrived stays.',
    id: 'closeRequest',
    answer: [200, 'Request', 'The request, closed.'],
  },
  answer: {
    summary: 'Answer a request',
    description:
      'For whoever has the link of the request. What is sent becomes a push of its owner; the sender learns only that it has arrived. An upload of files reserves its answer before the first byte, until it fails or for 10 minutes. `passphrase` is that of the request; give it before the files, so that they are not sent in vain. Any other member is 422. A form may send `payload` in place of `push[payload]`.',
    id: 'answerRequest',
    parameters: [...PASSPHRASE, idempotencyKey],
    body: 'Answer',
    answer: [201, 'Received', 'It has arrived.'],
    refused: [410],
  },
  webhooks: { summary: 'Your webhooks', id: 'listWebhooks', answer: [200, 'WebhookList', 'Oldest first.'] },
  addWebhook: {
    summary: 'Make a webhook',
    description:
      'Messages are JSON, signed as https://www.standardwebhooks.com says, or in the form of another service. They never hold a payload, link, passphrase or note.',
    id: 'createWebhook',
    body: 'Webhook',
    answer: [201, 'CreatedWebhook', 'The webhook, with its secret this once.'],
  },
  removeWebhook: {
    summary: 'Delete a webhook',
    id: 'deleteWebhook',
    answer: [200, 'Webhook', 'The webhook as it was.'],
  },
  testWebhook: {
    summary: 'Send a test message',
    description: 'Waits for the receiver, 10 seconds at most.',
    id: 'testWebhook',
    answer: [200, 'Webhook', 'The webhook; `last_error` is null if it arrived.'],
    refused: [409],
  },
  events: {
    summary: 'What became of your pushes',
    description:
      'Events of your account, oldest first, numbered in their order, kept for 7 days. Ask again with `after` set to `next`. With `wait` the answer comes with the next event, or without one after so many seconds. Three may wait at once for an account.',
    id: 'listEvents',
    parameters: [after, wait],
    answer: [200, 'EventPage', 'Up to 500 events.'],
    refused: [410],
  },
} satisfies Record<Exclude<keyof typeof API, 'reference' | 'docs'>, ApiOperation>

export type DescribedUrl = { url: Endpoint; operation: ApiOperation }

export function describedUrls<Name extends string>(
  urls: Record<NoInfer<Name>, Endpoint>,
  operations: Record<Name, ApiOperation>,
): DescribedUrl[] {
  const names = Object.keys(operations) as Name[]
  return names.map((name) => ({ url: urls[name], operation: operations[name] }))
}
