// What is known of a request before any route sees it.

import type { Visit } from '../../domain/audit.ts'
import { shortenReferrer, shortenUserAgent } from '../../domain/audit.ts'

export type Exchange = {
  /** As the routes know it. Its body is not here: a copy of a body, read in part, never ends. */
  request: Request
  /** As it arrived, with its body. */
  arrived: Request
  /** The routes see GET; the front door sends the headers alone. */
  isHead: boolean
  requestId: string
  /** The pattern of the route that answers, for the log: never the path, which may be a link. */
  route: string
  /** What links start with, without a trailing slash. */
  baseUrl: string
  /** What the client asked for, as it says or as a trusted proxy does; null when nobody does. */
  host: string | null
  /** What a trusted proxy was asked with; null when nobody trusted says so. */
  scheme: 'http' | 'https' | null
  clientAddress: string
  /** Whether a trusted proxy forwarded it. */
  isFromProxy: boolean
  /** The body comes slowly but surely: the connection has as much time again. */
  stayOpen: () => void
}

export function visitOf({ request, clientAddress }: Exchange): Visit {
  return {
    ip: clientAddress,
    userAgent: shortenUserAgent(request.headers.get('user-agent') ?? ''),
    referrer: shortenReferrer(request.headers.get('referer') ?? ''),
  }
}

export function queryOf({ request }: Exchange): URLSearchParams {
  const mark = request.url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : request.url.slice(mark))
}
