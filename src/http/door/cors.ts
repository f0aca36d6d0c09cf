// CORS: pages of the origins that the operator listed may use the API, without credentials.

import { spellingsOf } from '../../text/web-address.ts'
import { type AnswerHeaders, answerNothing } from '../answers.ts'
import { API, type Endpoint, FILES, PREVIOUS_API, PREVIOUS_FAMILIES } from '../urls.ts'
import { isJsonPath } from './paths.ts'

/** Longer than any origin: a host has at most 253 characters. */
const MAX_ORIGIN_CHARACTERS = 300

/**
 * Returns the Origin header in lower case; null without one. Replaces one that is too long by the text
 * `null`, which is no site's origin.
 */
export function originIn(headers: Headers): string | null {
  const origin = headers.get('origin')
  return origin === null ? null : origin.length > MAX_ORIGIN_CHARACTERS ? 'null' : origin.toLowerCase()
}

export type Cors = ReturnType<typeof createCors>

/** Request headers that clients use and browsers do not allow by default. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'X-User-Token',
  'X-User-Email',
  'X-Push-Passphrase',
  'X-Requested-With',
  'Idempotency-Key',
  'Range',
  'If-Range',
].join(', ')

/** Response headers that clients need and browsers do not expose by default. */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Allow',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'ETag',
  'Retry-After',
  'WWW-Authenticate',
  'X-File-Size',
  'X-Oncebox-Left-Out',
  'X-Request-Id',
].join(', ')

const ENDPOINTS = [API, PREVIOUS_API, FILES, ...Object.values(PREVIOUS_FAMILIES)].flatMap((table) =>
  Object.values<Endpoint>(table),
)
/** The methods of all endpoints. For a path that lacks one of them, the page can read the router's 405. */
const METHODS = new Set(['HEAD', ...ENDPOINTS.map(({ method }) => method)])

const PREFLIGHT: AnswerHeaders = {
  'access-control-allow-methods': [...METHODS].join(', '),
  'access-control-allow-headers': ALLOWED_HEADERS,
  'access-control-max-age': '3600',
}

/** `origins`: as `parseOrigin` returns them, or `*` for any. */
export function createCors(origins: readonly string[]) {
  const isAny = origins.includes('*')
  const listed = new Set(origins.flatMap(spellingsOf))
  /** `origin`: as `originIn` returns it. */
  const isListed = (origin: string) => isAny || listed.has(origin)

  /** Answers a preflight for a page of a listed origin. Returns null for any other request. */
  function answerPreflight(request: Request, path: string): Response | null {
    if (request.method !== 'OPTIONS' || !isJsonPath(path)) return null
    const { headers } = request
    const origin = originIn(headers)
    if (origin === null || !isListed(origin) || !headers.has('access-control-request-method')) return null
    // Chromium sends this header before a page of the internet may reach a server in a private network.
    const isIntoNetwork = headers.get('access-control-request-private-network') === 'true'
    const network = isIntoNetwork ? { 'access-control-allow-private-network': 'true' } : {}
    return answerNothing({ ...PREFLIGHT, ...network })
  }

  /** Allows a page of a listed origin to read an answer of the API, refusals included. */
  function addHeaders(headers: Headers, { request, path }: { request: Request; path: string }): void {
    if (origins.length === 0 || !isJsonPath(path)) return
    headers.append('vary', 'Origin')
    const origin = originIn(request.headers)
    if (origin === null || !isListed(origin)) return
    headers.set('access-control-allow-origin', isAny ? '*' : origin)
    headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  }

  return { isListed, answerPreflight, addHeaders }
}
