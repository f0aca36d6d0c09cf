// CSRF protection: refuses requests that another web site made a browser send, by the headers Origin and
// Sec-Fetch-Site.

import { DomainError } from '../../domain/errors.ts'
import { PAGES } from '../urls.ts'
import { type Cors, originIn } from './cors.ts'
import type { Exchange } from './exchange.ts'
import type { HostRules } from './host.ts'
import { isJsonPath } from './paths.ts'

type OtherSitesOptions = {
  isOwnOrigin: HostRules['isOwnOrigin']
  isListed: Cors['isListed']
}

/** Returns null to admit the request. Listed origins may use the API, never the pages. */
type RefusalOfSite = (exchange: Exchange) => DomainError | null

export function createRefusalOfSite({ isOwnOrigin, isListed }: OtherSitesOptions): RefusalOfSite {
  return (exchange) => {
    // Browsers send Origin with every request that may change something. On plain HTTP they send no
    // Sec-Fetch-*.
    const origin = originIn(exchange.request.headers)
    if (origin === null) return isCalledOtherSite(exchange) ? refusal() : null
    if (!isOfWeb(origin) || isSharedByBrowser(exchange)) return null
    const isApi = isJsonPath(exchange.path)
    if (!isOwnOrigin(origin, exchange)) return isApi && isListed(origin) ? null : refusal()
    return !isApi && isCalledOtherSite(exchange) ? refusal() : null
  }
}

/**
 * Whether the origin is a web page's, or the `null` of a document without one. Browser extensions have other
 * schemes and are allowed.
 */
function isOfWeb(origin: string): boolean {
  return origin === 'null' || /^https?:/.test(origin)
}

/**
 * Whether the browser itself sends the request because the operating system shares something with the
 * installed app. Such a POST has `Origin: null`, and no page can make a browser send `Sec-Fetch-Site: none`.
 */
function isSharedByBrowser({ path, request: { headers } }: Exchange): boolean {
  return (
    path === PAGES.share.path && headers.get('sec-fetch-site') === 'none' && headers.get('origin') === 'null'
  )
}

/** Whether Sec-Fetch-Site names another site. Links that people follow from there are allowed. */
function isCalledOtherSite({ request, isHead }: Exchange): boolean {
  const { headers, method } = request
  const site = headers.get('sec-fetch-site')
  // Browsers call another port of the same host the same site. Here it counts as another site.
  if (site !== 'cross-site' && site !== 'same-site') return false
  const mode = headers.get('sec-fetch-mode') ?? 'navigate'
  const isNavigation = mode === 'navigate' && headers.get('sec-fetch-dest') === 'document'
  return !isNavigation || !(method === 'GET' || isHead)
}

function refusal(): DomainError {
  return new DomainError(
    'other_site',
    'This request comes from another web site. --cors-origins lists the origins whose pages may use the API; ' +
      '--base-url names the address of this server, behind a proxy that speaks TLS for it.',
  )
}

/** Headers that mark a prefetch: `Sec-Purpose` today, the others in older browsers. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/** Throws `forbidden` for a prefetch, so that it uses up no view. */
export function refusePrefetch({ headers }: Request): void {
  const isAhead = PURPOSES.some((name) => /\bpre(fetch|render|view)\b/i.test(headers.get(name) ?? ''))
  if (isAhead) throw new DomainError('forbidden', 'A secret is not handed out before somebody asks for it.')
}
