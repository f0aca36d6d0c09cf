// The OpenAPI operation of each endpoint: texts, parameters, and answers by status.

import type { Guard } from '../http/urls.ts'
import type { AnswerName } from './answer-tables.ts'
import { PARAMETERS } from './parameters.ts'
import { describeBody, EDIT_EXAMPLE, TEXT_EXAMPLE } from './request-tables.ts'

type Answer = { description: string; schema: AnswerName; headers?: Record<string, object> }
type Status = 200 | 201 | 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 500 | 503 | 507

const retryAfter = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1, maximum: 60 } },
}

const REFUSALS: Partial<Record<Status, Answer>> = {
  400: { description: 'Malformed request or parameter.', schema: 'Error' },
  401: { description: 'A token (or a passphrase) is missing or not valid.', schema: 'PassphraseError' },
  403: {
    description: 'Not allowed for this account; or sent by another web site, or as a prefetch.',
    schema: 'Error',
  },
  404: { description: 'No such push.', schema: 'Error' },
  408: { description: 'The body took too long.', schema: 'Error' },
  409: {
    description:
      'The first request with this `Idempotency-Key` still runs, or the push that it made has ended.',
    schema: 'Error',
  },
  413: { description: 'The body is too large; names the limit and its flag.', schema: 'Error' },
  415: { description: 'This content type is not understood.', schema: 'Error' },
  421: { description: 'The Host is not a name of this server; names the flag to set.', schema: 'Error' },
  422: { description: 'Validation failed; names every field at fault.', schema: 'ValidationError' },
  429: {
    description: 'Too many requests, wrong passphrases, or active pushes of one address.',
    schema: 'Error',
    headers: retryAfter,
  },
  500: { description: 'A fault of the server.', schema: 'InternalError' },
  503: { description: 'Overloaded; nothing was stored or counted.', schema: 'Error', headers: retryAfter },
  507: { description: 'The disk of the server is full.', schema: 'Error' },
}

const ALWAYS: Status[] = [403, 421, 429, 500, 503]

function ref(schema: AnswerName) {
  return { $ref: `#/components/schemas/${schema}` }
}

function responses(outcome: Partial<Record<Status, Answer>>, ...refusals: Status[]) {
  const chosen = Object.fromEntries([...refusals, ...ALWAYS].map((status) => [status, REFUSALS[status]]))
  return describeAnswers({ ...chosen, ...outcome })
}

/** The `responses` member of an OpenAPI operation. */
export function describeAnswers(answers: Partial<Record<Status, Answer>>) {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, headers }]) => [
      status,
      {
        description,
        ...(headers ? { headers } : {}),
        content: { 'application/json': { schema: ref(schema) } },
      },
    ]),
  )
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
    responses: responses({ 200: { description: 'About this server.', schema: 'Version' } }),
  },
  create: {
    tags: ['Pushes'],
    summary: 'Create a push',
    operationId: 'createPush',
    parameters: [idempotencyKey],
    requestBody: {
      required: true,
      ...describeBody({ wrapper: 'push', form: 'PushForm', example: TEXT_EXAMPLE }),
    },
    responses: responses(
      { 201: { description: 'The push; hand `html_url` to the recipient.', schema: 'CreatedPush' } },
      ...([400, 401, 408, 409, 413, 415, 422, 507] as const),
    ),
  },
  retrieve: {
    tags: ['Pushes'],
    summary: 'Retrieve the payload',
    description: 'Counts as a view, which is durable before the payload is sent, and may expire the push.',
    operationId: 'retrievePush',
    parameters: [urlToken, passphraseHeader, passphrase],
    responses: responses(
      { 200: { description: 'The payload, or `expired: true` without it.', schema: 'RetrievedPush' } },
      ...([400, 401, 404, 507] as const),
    ),
  },
  expire: {
    tags: ['Pushes'],
    summary: 'Expire a push at once',
    description: 'For its owner, and for anybody when it is `deletable_by_viewer`.',
    operationId: 'expirePush',
    parameters: [urlToken],
    responses: responses(
      { 200: { description: 'The push, expired.', schema: 'DeletedPush' } },
      ...([401, 403, 404, 507] as const),
    ),
  },
  edit: {
    tags: ['Owner'],
    summary: 'Edit a push of yours',
    description:
      'Changes name and note, also of an expired push, and limits so that it ends sooner. What is not given stays; `""` removes a name or a note. Nothing else of a push can be changed: any other member of a push that is given, whatever its value, is 422, and names each of them. Audited as `edit`, unless nothing changes.',
    operationId: 'editPush',
    parameters: [urlToken],
    requestBody: {
      required: true,
      ...describeBody({ wrapper: 'push', fields: 'PushEdit', form: 'PushEditForm', example: EDIT_EXAMPLE }),
    },
    responses: responses(
      { 200: { description: 'The push as it is now.', schema: 'ListedPush' } },
      ...([400, 401, 403, 404, 408, 413, 415, 422, 507] as const),
    ),
  },
  preview: {
    tags: ['Pushes'],
    summary: 'The secret link, without a view',
    operationId: 'previewPush',
    parameters: [urlToken],
    responses: responses({ 200: { description: 'The link.', schema: 'Preview' } }, 401, 404),
  },
  audit: {
    tags: ['Owner'],
    summary: 'The audit log of a push',
    operationId: 'auditPush',
    parameters: [urlToken, page],
    responses: responses({ 200: { description: 'The entries.', schema: 'AuditLog' } }, 400, 401, 403, 404),
  },
  active: {
    tags: ['Owner'],
    summary: 'Your active pushes',
    operationId: 'listActivePushes',
    parameters: [page, before],
    responses: responses({ 200: { description: 'Newest first.', schema: 'PushList' } }, 400, 401, 404),
  },
  expired: {
    tags: ['Owner'],
    summary: 'Your expired pushes',
    operationId: 'listExpiredPushes',
    parameters: [page, before],
    responses: responses({ 200: { description: 'Newest first.', schema: 'PushList' } }, 400, 401, 404),
  },
}
