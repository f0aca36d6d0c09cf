// The path of a request as the routes know it.

import { API, JSON_PREFIXES } from '../urls.ts'

/** The part between host and query. Bun leaves the host out when the `Host` header was missing or broken. */
export function pathOf(url: string): string {
  const start = startOfPath(url)
  if (start === -1) return '/'
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/** A language as older servers and clients put it in front of a path, whether it is spoken here or not. */
const LOCALE = '[a-z]{2}(?:-[A-Za-z]{2,4})?'
/** Paths behind a language, and in the route table. `/up` is no language. */
const TRANSLATED = new RegExp(`^/(?::locale|(?!up(?:/|$))${LOCALE})(?:/.*)?$`)
/** In front of these within the router, so that no other path with as many parts is taken for one. */
const TRANSLATED_PREFIX = '/.locale'

/** The previous version of the API: its clients may put a language first. Without `.json` the same paths are pages. */
const PREVIOUS_API = new RegExp(`^(?:/${LOCALE})?(/[pfr](?:/.*)?)\\.json$`)
/** Its lists have a path behind a language, too. `/d/…` alone is a download. */
const PREVIOUS_LISTS = new RegExp(`^/(?:${LOCALE}|:locale)(/d/.*)\\.json$`)
/** In front of its paths within the router, which cannot tell `/p/:url_token.json` from `/p/:url_token`. */
const PREVIOUS_API_PREFIX = '/.json'

/** A path of the route table as the router knows it. */
export function routedPath(path: string): string {
  const isJson = path.endsWith('.json')
  const plain = isJson ? (PREVIOUS_API.exec(path) ?? PREVIOUS_LISTS.exec(path))?.[1] : undefined
  if (plain !== undefined) return `${PREVIOUS_API_PREFIX}${plain}`
  return TRANSLATED.test(path) ? `${TRANSLATED_PREFIX}${path}` : path
}

/** The other way round. */
export function publicPath(routed: string): string {
  const isPrevious = routed.startsWith(`${PREVIOUS_API_PREFIX}/`)
  return isPrevious ? `${routed.slice(PREVIOUS_API_PREFIX.length)}.json` : routed
}

/** Whether what is at this canonical path, or would be, speaks JSON. */
export function isJsonPath(path: string): boolean {
  return path.startsWith(PREVIOUS_API_PREFIX) || JSON_PREFIXES.some((start) => path.startsWith(start))
}

/**
 * Without the base path, which proxies strip or do not; without repeated slashes and one at the end; and without the
 * `.json` that every endpoint of the API may carry. As the router knows it.
 */
export function canonicalPath(path: string, basePath: string): string {
  let canonical = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  if (basePath !== '' && (canonical === basePath || canonical.startsWith(`${basePath}/`))) {
    canonical = canonical.slice(basePath.length) || '/'
  }
  if (canonical.length > 1 && canonical.endsWith('/')) canonical = canonical.slice(0, -1)
  // Nobody outside needs to know how the router tells them apart.
  if (canonical.startsWith(PREVIOUS_API_PREFIX)) return PREVIOUS_API_PREFIX
  if (canonical.startsWith(TRANSLATED_PREFIX)) return TRANSLATED_PREFIX
  const isEndpoint = /^\/api\/v[12]\//.test(canonical) && canonical !== API.reference.path
  if (isEndpoint && canonical.endsWith('.json')) return canonical.slice(0, -'.json'.length)
  return routedPath(canonical)
}

/** Whether the percent-escapes of a path are UTF-8 (RFC 3986, 2.5). The router reads any other escape as null. */
export function isDecodable(path: string): boolean {
  if (!path.includes('%')) return true
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** The same URL with another path, and with some host. */
export function withPath(url: string, path: string): string {
  const start = startOfPath(url)
  const origin = start === 0 ? 'http://localhost' : start === -1 ? url : url.slice(0, start)
  const query = url.indexOf('?')
  return `${origin}${path}${query === -1 ? '' : url.slice(query)}`
}

function startOfPath(url: string): number {
  return url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
}
