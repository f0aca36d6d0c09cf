// The reference of the API as OpenAPI 3, with the limits of this instance. Generated when first requested.

import type { PushLimits } from '../domain/new-push.ts'
import { generateDocument } from '../http/reference.ts'
import { API, type Endpoint } from '../http/urls.ts'
import { ANSWERS, type AnswerName } from './answer-tables.ts'
import { type ApiOperation, describedUrls, OPERATIONS, REFUSALS, type RefusalStatus } from './operations.ts'
import { PARAMETERS, PATH_PARAMETERS } from './parameters.ts'
import { createRequests, describeBody } from './request-tables.ts'
import { listPreviousOperations } from './v1/pushes.ts'

const DESCRIPTION = `Hand over a secret: create a push and share its link. The push expires after a number of views or days.

Every path also answers with \`.json\` at its end. A token, where one is needed, comes from \`oncebox token create EMAIL\`
and goes into \`Authorization: Bearer …\`. \`X-User-Token\`, \`Token …\`, \`Token token=…\`, Basic with the token as user or
password, and the token alone work, too; \`Authorization\` takes precedence over \`X-User-Token\`. An invalid token is
401 everywhere but at \`/version\`. When \`anonymous_access\` is off, every path but \`/version\` needs a token.
Any other path is 404, a known path with another method 405 with \`Allow\`.`

const SECURITY_SCHEMES = {
  token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
  userToken: { type: 'apiKey', in: 'header', name: 'X-User-Token', description: 'The same token.' },
  basic: { type: 'http', scheme: 'basic', description: 'The same token as user or password.' },
} as const

const TAGS = {
  Pushes: 'Create, hand over, retrieve.',
  Owner: 'What an account sees of its own pushes.',
  Notices: 'What became of your pushes.',
  Requests: 'Ask for a secret: others send it to you.',
  Instance: 'About this server.',
  'Previous version':
    'Clients of version 1 work here unchanged: the same pushes under older paths and wrappers. New programs should use version 2. A language may stand in front, as in `/en/p.json`.',
}

/** Returns the heading above an operation. */
function tagOf({ path, guard }: Endpoint): keyof typeof TAGS {
  if (!/^\/api\/(v2|oncebox)\//.test(path)) return 'Previous version'
  if (path === API.version.path) return 'Instance'
  if (path.startsWith(API.requests.path)) return 'Requests'
  if (!path.startsWith(API.create.path)) return 'Notices'
  return guard === 'account' ? 'Owner' : 'Pushes'
}

type ReferenceOptions = {
  limits: PushLimits
  version: string
  anonymousAccess: boolean
}

/** Returns a function that generates the document once. */
export function createReference(options: ReferenceOptions): () => Promise<object> {
  let reference: Promise<object> | null = null
  return () => {
    reference ??= makeDocument(options)
    return reference
  }
}

function makeDocument({ limits, version, anonymousAccess }: ReferenceOptions): Promise<object> {
  const current = describedUrls(API, OPERATIONS).filter(({ url }) => url !== API.notify || limits.mail)
  const described = [...current, ...listPreviousOperations(limits)]
  const routes = described.map(({ url, operation }) => ({
    url,
    detail: { ...describe(url, operation), security: securityOf(url, anonymousAccess) },
  }))
  return generateDocument(routes, {
    info: { title: 'Oncebox', description: DESCRIPTION, version, license: { name: 'Apache-2.0' } },
    // Relative to this document (RFC 3986, 5.2), so that it works behind every proxy and under every base
    // path.
    servers: [{ url: '../..' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    components: {
      schemas: { ...createRequests(limits), ...ANSWERS },
      securitySchemes: SECURITY_SCHEMES,
    },
  })
}

function describe(url: Endpoint, { id, body, answer, refused = [], ...operation }: ApiOperation) {
  const inPath = PATH_PARAMETERS.filter(({ name }) => url.path.includes(`:${name}`))
  const { parameters = [], ...texts } = operation
  const [status, ...outcome] = answer
  const refusals: RefusalStatus[] = [
    ...ALWAYS,
    ...refused,
    ...(url.guard === 'open' ? [] : ([401] as const)),
    ...(inPath.length === 0 ? [] : ([404] as const)),
    ...(parameters.length === 0 ? [] : ([400] as const)),
    ...(parameters.includes(PARAMETERS.idempotencyKey) ? ([409] as const) : []),
    ...(body === undefined ? [] : OF_BODY),
  ]
  return {
    ...{ operationId: id, ...texts, tags: [tagOf(url)] },
    parameters: [...inPath, ...parameters],
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses: {
      ...Object.fromEntries(refusals.map((refusal) => [refusal, describeRefusal(refusal)])),
      [status]: describeAnswer(...outcome),
    },
  }
}

const ALWAYS = [403, 421, 429, 500, 503] as const
const OF_BODY = [400, 408, 413, 415, 422, 507] as const

/** The schemas of refusals that hold more than an error. */
const SCHEMAS: Partial<Record<RefusalStatus, AnswerName>> = {
  ...{ 401: 'PassphraseError', 422: 'ValidationError', 500: 'InternalError' },
}
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 1, maximum: 60 } },
}

function describeRefusal(status: RefusalStatus) {
  const answer = describeAnswer(SCHEMAS[status] ?? 'Error', REFUSALS[status])
  return status === 429 || status === 503 ? { ...answer, headers: RETRY_AFTER } : answer
}

function describeAnswer(schema: AnswerName, description: string) {
  const content = { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } }
  return { description, content }
}

const TOKENS: Record<string, string[]>[] = [{ token: [] }, { userToken: [] }, { basic: [] }]

/** Returns the tokens that the guard accepts on this instance. */
function securityOf({ guard }: Endpoint, anonymousAccess: boolean): typeof TOKENS {
  if (guard === 'open') return [{}]
  return guard === 'visitor' && anonymousAccess ? [{}, ...TOKENS] : TOKENS
}
