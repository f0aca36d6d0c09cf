// Which requests another web site made a browser send, by what the browser says of where they come from.

import { DomainError } from '../../domain/errors.ts'
import type { Cors } from './cors.ts'
import type { Exchange } from './exchange.ts'
import type { HostRules } from './host.ts'
import { isJsonPath } from './paths.ts'

export type OtherSitesOptions = {
  isOwnOrigin: HostRules['isOwnOrigin']
  isListed: Cors['isListed']
}

/** Throws `other_site`. `path` is canonical: listed origins may use the API, never the pages. */
export type RefuseOtherSites = (exchange: Exchange, path: string) => void

export function createRefuseOtherSites({ isOwnOrigin, isListed }: OtherSitesOptions): RefuseOtherSites {
  return (exchange, path) => {
    // Browsers send it with every request that may change something, also over plain HTTP, where the rest is missing.
    const origin = exchange.arrived.headers.get('origin')
    const isApi = isJsonPath(path)
    if (origin !== null && !isOfWeb(origin)) return
    if (origin !== null && !isOwnOrigin(origin, exchange)) {
      if (!isApi || !isListed(origin)) throw refusal()
    } else if ((origin === null || !isApi) && isCalledOtherSite(exchange)) throw refusal()
  }
}

/** Pages of the web and documents without an origin. Extensions have schemes of their own and may ask. */
function isOfWeb(origin: string): boolean {
  return origin === 'null' || /^https?:/i.test(origin)
}

/** By the browser, which tells it where the connection is safe. Links that people follow are let in all the same. */
function isCalledOtherSite({ arrived, isHead }: Exchange): boolean {
  const { headers, method } = arrived
  const site = headers.get('sec-fetch-site')
  // Another port of the same host is the same site to the browser, and another one to us.
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

/** What browsers have called fetching a page before anybody asked for it, `Sec-Purpose` today. */
const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']

/** Throws `forbidden` when nobody has asked yet for what a view would be spent on. */
export function refusePrefetch({ headers }: Request): void {
  const isAhead = PURPOSES.some((name) => /\bpre(fetch|render|view)\b/i.test(headers.get(name) ?? ''))
  if (isAhead) throw new DomainError('forbidden', 'A secret is not handed out before somebody asks for it.')
}
