// The path of a request as the routes know it.

/** The part between host and query. Bun leaves the host out when the `Host` header was missing or broken. */
export function pathOf(url: string): string {
  const start = startOfPath(url)
  if (start === -1) return '/'
  const query = url.indexOf('?', start)
  return query === -1 ? url.slice(start) : url.slice(start, query)
}

/**
 * Without the base path, which proxies strip or do not; without repeated slashes and one at the end; and without the
 * `.json` that every endpoint of the API may carry.
 */
export function canonicalPath(path: string, basePath: string): string {
  let canonical = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
  if (basePath !== '' && (canonical === basePath || canonical.startsWith(`${basePath}/`))) {
    canonical = canonical.slice(basePath.length) || '/'
  }
  if (canonical.length > 1 && canonical.endsWith('/')) canonical = canonical.slice(0, -1)
  const isEndpoint = canonical.startsWith('/api/v2/') && canonical !== '/api/v2/openapi.json'
  return isEndpoint && canonical.endsWith('.json') ? canonical.slice(0, -'.json'.length) : canonical
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
