// A request as the front door knows it before a route answers it.

import { type Visit, visitFrom } from '../../domain/audit.ts'
import { DomainError } from '../../domain/errors.ts'

export type Exchange = {
  /**
   * The original request with its body. Do not clone it: a clone whose body is only partly read never ends.
   */
  request: Request
  /** The canonical path, for the routes. */
  path: string
  /** Whether the request is HEAD. Routes answer as for GET; the front door sends only the headers. */
  isHead: boolean
  requestId: string
  /** The pattern of the route that answers, for the log. Never the path, which may be a link. */
  route: string
  /** The start of every absolute link, without a trailing slash. */
  baseUrl: string
  /** The start of links for recipients: --receive-url, or else the same. */
  linkBase: string
  /** Whether the request came by --receive-listen, which ignores sessions and API tokens. */
  isOutside: boolean
  /** The host that the client asked for: from the Host header, or from a trusted proxy. */
  host: string | null
  /**
   * The scheme that the client used; null for plain http unless a trusted proxy names the scheme: an
   * undeclared proxy may speak TLS.
   */
  scheme: 'http' | 'https' | null
  clientAddress: string
  /** Whether a trusted proxy forwarded the request. */
  isFromProxy: boolean
  /** Extends the idle timeout while a slow body keeps arriving. */
  stayOpen: () => void
  /**
   * Reserves memory for an answer of this size. Throws `overloaded` if there is none, and `malformed` if the
   * connection was closed.
   */
  makeRoom: (bytes: number) => void
  /** Bytes reserved in memory for the body and the answer. */
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

/**
 * Throws `malformed` if the connection was closed, because nobody would receive the answer. Bun closes a
 * connection on which a second request arrives before the first is answered (pipelining).
 */
export function requireOpen({ request }: Exchange): void {
  if (request.signal.aborted) throw new DomainError('malformed', 'The connection was closed.')
}

export function queryOf({ request }: Exchange): URLSearchParams {
  const mark = request.url.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : request.url.slice(mark))
}

/**
 * Returns null for a parameter that the query lacks. Parses nothing for a URL without a query, as most are.
 */
export function findInQuery(exchange: Exchange, name: string): string | null {
  return exchange.request.url.includes('?') ? queryOf(exchange).get(name) : null
}
