// The front door: address, limits, host and path of every request, its log line; then the routes.

import { DomainError } from '../domain/errors.ts'
import type { BodyRoom } from './body-room.ts'
import type { ReadForwarded } from './client-address.ts'
import type { PresentError } from './errors.ts'
import { type Exchange, openExchange } from './exchange.ts'
import type { HostRules } from './host.ts'
import { canonicalPath, EXEMPT_PATHS, isDecodable, pathOf, withPath } from './paths.ts'
import type { LimitRate } from './rate-limit.ts'
import type { Secure } from './security-headers.ts'

/** Told once a request has been answered. `route` is a pattern, never the path. */
export type LogRequest = (line: {
  method: string
  route: string
  status: number
  durationMs: number
  requestId: string
}) => void

export type FrontDoorOptions = {
  routes: { fetch(request: Request): Response | Promise<Response> }
  readForwarded: ReadForwarded
  hostRules: HostRules
  limitRate: LimitRate
  bodyRoom: BodyRoom
  presentError: PresentError
  secure: Secure
  newRequestId: () => string
  logRequest: LogRequest
}

/** Answers one request; `peer` is the address of its socket, `stayOpen` keeps that open while a body arrives. */
export type Handle = (request: Request, peer: string, stayOpen?: () => void) => Promise<Response>

/** With the path that the routes know, and GET for HEAD: Elysia itself would read a whole body to tell its length. */
function routedRequest({ request, isHead }: Exchange, path: string | null): Request {
  const isAsIs = path === null && !isHead && !request.url.startsWith('/')
  if (isAsIs) return request
  const url = withPath(request.url, path ?? pathOf(request.url))
  const method = isHead ? 'GET' : request.method
  return new Request(url, { method, headers: request.headers, signal: request.signal })
}

async function headersAlone(response: Response): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  if (!headers.has('content-length')) {
    headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  }
  return new Response(null, { status, headers })
}

export function createFrontDoor(options: FrontDoorOptions): Handle {
  const {
    routes,
    readForwarded,
    hostRules,
    limitRate,
    bodyRoom,
    presentError,
    secure,
    newRequestId,
    logRequest,
  } = options

  async function admit(exchange: Exchange, path: string, host: string | null): Promise<void> {
    if (EXEMPT_PATHS.has(path)) return
    const limited = limitRate(exchange.clientAddress)
    if (limited !== null) await limited
    hostRules.check(host)
  }

  async function answer(exchange: Exchange, host: string | null): Promise<Response> {
    const { request } = exchange
    const asked = pathOf(request.url)
    const path = canonicalPath(asked, hostRules.basePath)
    try {
      await admit(exchange, path, host)
      if (!isDecodable(path)) throw new DomainError('not_found', 'not-found')
      const routed = routedRequest(exchange, path === asked ? null : path)
      exchange.request = routed
      openExchange(routed, exchange)
      return await routes.fetch(routed)
    } catch (cause) {
      return presentError(cause, exchange, path)
    } finally {
      bodyRoom.giveBack(exchange)
    }
  }

  return async (request, peer, stayOpen = () => undefined) => {
    const started = performance.now()
    const { headers } = request
    const forwarded = readForwarded(peer, headers)
    const host = forwarded.host ?? headers.get('host')
    const baseUrl = hostRules.baseUrlFor({ scheme: forwarded.scheme ?? 'http', host })
    const requestId = newRequestId()
    const exchange: Exchange = {
      request,
      arrived: request,
      isHead: request.method === 'HEAD',
      requestId,
      route: '-',
      baseUrl,
      host,
      scheme: forwarded.scheme,
      clientAddress: forwarded.address,
      stayOpen,
    }
    const answered = await answer(exchange, host)
    const response = exchange.isHead ? await headersAlone(answered) : answered
    response.headers.set('x-request-id', requestId)
    secure(response.headers)
    const durationMs = performance.now() - started
    logRequest({
      method: request.method,
      route: exchange.route,
      status: response.status,
      durationMs,
      requestId,
    })
    return response
  }
}
