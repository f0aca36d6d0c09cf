// Canonical paths: the form that the router compares, whatever spelling a client or proxy uses.

import { API, ENDPOINT_PREFIXES, FILES, JSON_PREFIXES, PAGES, PREVIOUS_FAMILIES } from '../urls.ts'
import type { Exchange } from './exchange.ts'

/**
 * Returns the part between host and query. Bun leaves out the host if the `Host` header is missing or
 * malformed.
 */
export function pathOf(url: string): string {
  const start = startOfPath(url)
  if (start === -1) return '/'
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** A language prefix of Password Pusher's paths, supported here or not. */
const LOCALE = '[a-z]{2}(?:-[A-Za-z]{2,4})?'
/** Paths with a language prefix, in requests and in the route table. `/up` is not a language. */
const TRANSLATED = new RegExp(`^(?!${FILES.up.path}(?:/|$))/(?::locale|${LOCALE})(?:/.*)?$`)
/**
 * The router's prefix for translated paths, so that `/:locale/…` matches no other path with as many segments.
 */
const TRANSLATED_PREFIX = '/.locale'

const FAMILIES = Object.keys(PREVIOUS_FAMILIES).join('|')
/** Paths of the previous API, with or without a language prefix. Without `.json` the same paths are pages. */
const PREVIOUS_API = new RegExp(`^(?:/${LOCALE})?(/(?:${FAMILIES})(?:/.*)?)\\.json$`)
/** Lists of the previous API, always with a language prefix: `/d/…` alone is a download. */
const PREVIOUS_LISTS = new RegExp(`^/(?:${LOCALE}|:locale)(${FILES.download.href({ grant: '' })}.*)\\.json$`)
/**
 * The router's prefix for paths of the previous API, since it cannot tell `/p/:url_token.json` from
 * `/p/:url_token`.
 */
const PREVIOUS_API_PREFIX = '/.json'

/** Returns the router's path for a path of the route table. */
export function routedPath(path: string): string {
  const isJson = path.endsWith('.json')
  const plain = isJson ? (PREVIOUS_API.exec(path) ?? PREVIOUS_LISTS.exec(path))?.[1] : undefined
  if (plain !== undefined) return `${PREVIOUS_API_PREFIX}${plain}`
  return TRANSLATED.test(path) ? `${TRANSLATED_PREFIX}${path}` : path
}

/** Returns the path of the route table for a router's path. */
export function publicPath(routed: string): string {
  if (routed.startsWith(TRANSLATED_PREFIX)) return routed.slice(TRANSLATED_PREFIX.length) || '/'
  const isPrevious = routed.startsWith(`${PREVIOUS_API_PREFIX}/`)
  return isPrevious ? `${routed.slice(PREVIOUS_API_PREFIX.length)}.json` : routed
}

/** Whether answers at this canonical path are JSON, refusals included. */
export function isJsonPath(path: string): boolean {
  return path.startsWith(PREVIOUS_API_PREFIX) || JSON_PREFIXES.some((start) => path.startsWith(start))
}

const REQUEST_LINKS = PAGES.answer.href({ url_token: '' })

/** Whether the answer is JSON: on a JSON path, and at the link of a request if the client asks for it. */
export function isJsonWanted({ path, request }: Pick<Exchange, 'path' | 'request'>): boolean {
  if (!path.startsWith(REQUEST_LINKS)) return isJsonPath(path)
  const accept = request.headers.get('accept') ?? ''
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}

/**
 * Returns the canonical path: without the base path (which some proxies strip already), repeated slashes, a
 * trailing slash, and the `.json` that every endpoint of the API accepts.
 */
export function canonicalPath(path: string, basePath: string): string {
  let canonical = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  if (basePath !== '' && (canonical === basePath || canonical.startsWith(`${basePath}/`))) {
    canonical = canonical.slice(basePath.length) || '/'
  }
  if (canonical.length > 1 && canonical.endsWith('/')) canonical = canonical.slice(0, -1)
  // Answer 404 if a client requests one of the router's internal prefixes.
  if (canonical.startsWith(PREVIOUS_API_PREFIX)) return PREVIOUS_API_PREFIX
  if (canonical.startsWith(TRANSLATED_PREFIX)) return TRANSLATED_PREFIX
  return isEndpointWithSuffix(canonical) ? canonical.slice(0, -'.json'.length) : routedPath(canonical)
}

/** Whether an endpoint is requested with an optional `.json`. The reference has `.json` in its own name. */
function isEndpointWithSuffix(path: string): boolean {
  if (!path.endsWith('.json') || path === API.reference.path) return false
  return ENDPOINT_PREFIXES.some((start) => path.startsWith(start))
}

/**
 * Whether the percent-escapes of a path are UTF-8 (RFC 3986, 2.5). The router reads any other escape as null.
 */
export function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Returns the index at which the path begins in a URL, with or without a host; -1 if it has no path. */
export function startOfPath(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
}
