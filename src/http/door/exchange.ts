// What the front door knows of a request before a route answers it.

import { type Visit, visitFrom } from '../../domain/audit.ts'

export type Exchange = {
  /** As it arrived, with its body: a copy of a body that is read in part never ends. */
  request: Request
  /** The canonical path, for the routes. */
  path: string
  /** The routes answer as for GET; the front door sends only the headers. */
  isHead: boolean
  requestId: string
  /** The pattern of the route that answers, for the log: never the path, which may be a link. */
  route: string
  /** The start of every absolute link, without a trailing slash. */
  baseUrl: string
  /** The host that the client asked for: from the Host header, or from a trusted proxy. */
  host: string | null
  /**
   * The scheme that the client used; null for plain http without a word from a trusted proxy, which may speak
   * TLS.
   */
  scheme: 'http' | 'https' | null
  clientAddress: string
  /** Whether a trusted proxy forwarded it. */
  isFromProxy: boolean
  /** Extends the idle timeout while a slow body keeps arriving. */
  stayOpen: () => void
  /**
   * Reserves memory for an answer with a text of so many bytes. Throws `overloaded` if there is none, and `malformed`
   * when the connection has ended.
   */
  makeRoom: (bytes: number) => void
  /** Bytes of its body and its answer that are reserved in memory. */
  heldBytes: number
  /** When the request arrived, by `performance.now()`. */
  startedAt: number
  /** Ends the body with `overloaded`, which frees its memory. Null unless a body is arriving. */
  endBody: (() => void) | null
}

export function visitOf({ request, clientAddress }: Exchange): Visit {
  return visitFrom({
    ip: clientAddress,
    userAgent: request.headers.get('user-agent') ?? '',
    referrer: request.headers.get('referer') ?? '',
  })
}

export function queryOf({ request }: Exchange): URLSearchParams {
  const mark = request.url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : request.url.slice(mark))
}

/** Null for a parameter that the query lacks. Most requests have no query, and need not parse one. */
export function findInQuery(exchange: Exchange, name: string): string | null {
  return exchange.request.url.includes('?') ? queryOf(exchange).get(name) : null
}
