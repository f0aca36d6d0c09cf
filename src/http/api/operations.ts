// What the reference says of each endpoint: its words, parameters, and the answers by status.

import { MAX_PAGE } from '../../domain/audit.ts'
import type { SchemaName } from './schemas.ts'

type Answer = { description: string; schema: SchemaName; headers?: Record<string, object> }
type Status = 200 | 201 | 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 421 | 422 | 429 | 500 | 503 | 507

const retryAfter = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1, maximum: 60 } },
}

const REFUSALS: Partial<Record<Status, Answer>> = {
  400: { description: 'Malformed request or parameter.', schema: 'Error' },
  401: { description: 'A token (or a passphrase) is missing or not valid.', schema: 'PassphraseError' },
  403: {
    description: 'Signed in, but not allowed; asked by another web site, or ahead of anybody (a prefetch).',
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
    description: 'Too many requests, wrong passphrases, or live pushes of one address.',
    schema: 'Error',
    headers: retryAfter,
  },
  500: { description: 'A fault of the server.', schema: 'InternalError' },
  503: { description: 'Overloaded; nothing was stored or counted.', schema: 'Error', headers: retryAfter },
  507: { description: 'The disk of the server is full.', schema: 'Error' },
}

const ALWAYS: Status[] = [403, 421, 429, 500, 503]

function ref(schema: SchemaName) {
  return { $ref: `#/components/schemas/${schema}` }
}

function responses(outcome: Partial<Record<Status, Answer>>, ...refusals: Status[]) {
  const chosen = Object.fromEntries([...refusals, ...ALWAYS].map((status) => [status, REFUSALS[status]]))
  return describeAnswers({ ...chosen, ...outcome })
}

/** Answers by status, as OpenAPI wants them. */
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

const urlToken = {
  name: 'url_token',
  in: 'path',
  required: true,
  description: 'The token of the push.',
  schema: { type: 'string' },
  example: '7k3m9qx2vn4t8bw5hj6r0yzacd',
}

const page = {
  name: 'page',
  in: 'query',
  description: '50 entries a page.',
  schema: { type: 'integer', minimum: 1, maximum: MAX_PAGE, default: 1 },
}

const passphrase = [
  {
    name: 'X-Push-Passphrase',
    in: 'header',
    description:
      'The passphrase, percent-encoded UTF-8. Better than the query parameter, which histories keep.',
    schema: { type: 'string' },
  },
  { name: 'passphrase', in: 'query', description: 'The passphrase.', schema: { type: 'string' } },
]

const accountOnly = [{ token: [] }, { userToken: [] }, { basic: [] }]
const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes repeating safe, when an answer was lost: for 24 hours the same key with the same fields answers as the first time and creates nothing. With other fields it is 422. 22 to 128 printable characters, random, a new one for each push; it counts for the account, or without one for the address.',
  schema: { type: 'string', minLength: 22, maxLength: 128 },
  example: '9f1c6f0e-3d0b-4c58-9a53-0c1c7b8a2f7e',
}

const anybody = [{}, ...accountOnly]

const formFields = {
  type: 'object',
  properties: {
    'push[payload]': { type: 'string' },
    'push[expire_after_days]': { type: 'integer' },
    'push[expire_after_views]': { type: 'integer' },
    'push[passphrase]': { type: 'string' },
    'push[files][]': {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      description: 'multipart only',
    },
  },
}

const createBody = {
  required: true,
  content: {
    'application/json': {
      schema: ref('NewPush'),
      example: {
        push: { payload: 'correct horse battery staple', expire_after_days: 1, expire_after_views: 1 },
      },
    },
    'application/x-www-form-urlencoded': { schema: formFields },
    'multipart/form-data': { schema: formFields },
  },
}

export const OPERATIONS = {
  version: {
    tags: ['Instance'],
    summary: 'Version, capabilities and limits',
    operationId: 'getVersion',
    security: [{}],
    responses: responses({ 200: { description: 'About this instance.', schema: 'Version' } }),
  },
  create: {
    tags: ['Pushes'],
    summary: 'Create a push',
    operationId: 'createPush',
    security: anybody,
    parameters: [idempotencyKey],
    requestBody: createBody,
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
    security: anybody,
    parameters: [urlToken, ...passphrase],
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
    security: anybody,
    parameters: [urlToken],
    responses: responses(
      { 200: { description: 'The push, expired.', schema: 'DeletedPush' } },
      ...([401, 403, 404, 507] as const),
    ),
  },
  preview: {
    tags: ['Pushes'],
    summary: 'The secret link, without a view',
    operationId: 'previewPush',
    security: anybody,
    parameters: [urlToken],
    responses: responses({ 200: { description: 'The link.', schema: 'Preview' } }, 401, 404),
  },
  audit: {
    tags: ['Owner'],
    summary: 'The audit log of a push',
    operationId: 'auditPush',
    security: accountOnly,
    parameters: [urlToken, page],
    responses: responses({ 200: { description: 'The entries.', schema: 'AuditLog' } }, 400, 401, 403, 404),
  },
  active: {
    tags: ['Owner'],
    summary: 'Your active pushes',
    operationId: 'listActivePushes',
    security: accountOnly,
    parameters: [page],
    responses: responses({ 200: { description: 'Newest first.', schema: 'PushList' } }, 400, 401),
  },
  expired: {
    tags: ['Owner'],
    summary: 'Your expired pushes',
    operationId: 'listExpiredPushes',
    security: accountOnly,
    parameters: [page],
    responses: responses({ 200: { description: 'Newest first.', schema: 'PushList' } }, 400, 401),
  },
}
