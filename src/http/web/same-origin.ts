// Whether a form was sent by one of our own pages: what the browser says about where it comes from.

import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Throws `forbidden` for a request that another site made. A client that says nothing is no browser that another site
 * could use: browsers send Origin with every POST, and Sec-Fetch-Site wherever the address counts as secure.
 */
export function requireSameOrigin(exchange: Exchange): void {
  const { request, host, baseUrl } = exchange
  requireNoOtherSite(exchange)
  const origin = request.headers.get('origin')
  if (origin === null) return
  const ours = [host, URL.canParse(baseUrl) ? new URL(baseUrl).host : null]
  if (!URL.canParse(origin) || !ours.includes(new URL(origin).host)) throw foreign()
}

/** For pages that send no referrer, whose forms therefore name no origin either. */
export function requireNoOtherSite({ request }: Exchange): void {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null && site !== 'same-origin' && site !== 'none') throw foreign()
}

function foreign(): DomainError {
  return new DomainError('forbidden', 'This form was sent by another site.')
}
