// The front door: checks the address, limits, Host and path of every request, hands it to its route, and logs it.

import { DomainError } from '../../domain/errors.ts'
import type { Secure } from '../answers.ts'
import { EXEMPT_PATHS } from '../urls.ts'
import type { BodyRoom } from './body-room.ts'
import { sendInPieces } from './body-room.ts'
import type { ReadForwarded } from './client-address.ts'
import type { Cors } from './cors.ts'
import type { PresentError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Asker } from './host.ts'
import { answersAnyHost, type HostRules, readHost } from './host.ts'
import { createRefusalOfSite } from './other-sites.ts'
import { canonicalPath, isDecodable, pathOf, withPath } from './paths.ts'
import type { LimitRate } from './rate-limit.ts'
import type { AnswerRoute } from './router.ts'

/** Called once a request has been answered. `route` is a pattern, never the path. */
export type LogRequest = (line: {
  method: string
  route: string
  status: number
  durationMs: number
  requestId: string
}) => void

export type FrontDoorOptions = {
  answerRoute: AnswerRoute
  readForwarded: ReadForwarded
  hostRules: HostRules
  cors: Cors
  limitRate: LimitRate
  limitOtherSites: LimitRate
  bodyRoom: BodyRoom
  presentError: PresentError
  secure: Secure
  newRequestId: () => string
  logRequest: LogRequest
  /** Whether its requests come over TLS that ends in this process. */
  isTls: boolean
}

/** Answers one request. `peer` is the address of its socket, `stayOpen` extends its idle timeout. */
export type Handle = (request: Request, peer: string, stayOpen?: () => void) => Promise<Response>

/** With the canonical path, and GET for HEAD: Elysia's own HEAD reads the whole body to tell its length. */
function routedRequest({ request, isHead }: Exchange, path: string | null): Request {
  const isAsIs = path === null && !isHead && request.url.startsWith('http:')
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

function askerOf({ isFromProxy, scheme, clientAddress, arrived }: Exchange): Asker {
  return { isTrustedProxy: isFromProxy, scheme, address: clientAddress, headers: arrived.headers }
}

export function createFrontDoor(options: FrontDoorOptions): Handle {
  const { answerRoute, readForwarded, hostRules, cors, limitRate, limitOtherSites } = options
  const { bodyRoom, presentError, secure, newRequestId, logRequest, isTls } = options
  const refusalOfSite = createRefusalOfSite({
    isOwnOrigin: hostRules.isOwnOrigin,
    isListed: cors.isListed,
  })

  /** Has limits of its own, so that other sites cannot use up those of the person at the browser. */
  async function refuseSite(refusal: DomainError, { exchange, path }: { exchange: Exchange; path: string }) {
    if (!EXEMPT_PATHS.has(path)) await limitOtherSites(exchange.clientAddress)
    throw refusal
  }

  /** Throws for too many requests and for a foreign Host. */
  async function admit(exchange: Exchange, path: string): Promise<void> {
    if (!EXEMPT_PATHS.has(path)) {
      const limited = limitRate(exchange.clientAddress)
      if (limited !== null) await limited
    }
    if (!answersAnyHost(path)) hostRules.check(exchange.host, askerOf(exchange))
  }

  /** Large answers hold their room until the client has received them. */
  async function answer(exchange: Exchange, asked: string, path: string): Promise<Response> {
    const response = await answerOrRefuse(exchange, asked, path)
    if (bodyRoom.isHeldBy(exchange)) return sendInPieces(response, { exchange, bodyRoom })
    bodyRoom.giveBack(exchange)
    return response
  }

  async function answerOrRefuse(exchange: Exchange, asked: string, path: string): Promise<Response> {
    try {
      const refusal = refusalOfSite(exchange, path)
      if (refusal !== null) await refuseSite(refusal, { exchange, path })
      const preflight = cors.answerPreflight(exchange.arrived, path)
      if (preflight !== null) return preflight
      await admit(exchange, path)
      if (!isDecodable(path)) throw new DomainError('not_found', 'not-found')
      exchange.request = routedRequest(exchange, path === asked ? null : path)
      return await answerRoute(exchange)
    } catch (cause) {
      return presentError(cause, exchange, path)
    }
  }

  function open(request: Request, peer: string, stayOpen: () => void): Exchange {
    const { headers } = request
    const forwarded = readForwarded(peer, headers)
    const scheme = forwarded.scheme ?? (isTls ? 'https' : null)
    const host = readHost(forwarded.host ?? headers.get('host'))
    const exchange: Exchange = {
      request,
      arrived: request,
      isHead: request.method === 'HEAD',
      requestId: newRequestId(),
      route: '-',
      baseUrl: hostRules.baseUrlFor({ scheme, host }),
      host,
      scheme,
      clientAddress: forwarded.address,
      isFromProxy: forwarded.isTrusted,
      stayOpen,
      makeRoom: (bytes) => bodyRoom.takeForAnswer(exchange, bytes),
    }
    return exchange
  }

  return async (request, peer, stayOpen = () => undefined) => {
    const started = performance.now()
    const exchange = open(request, peer, stayOpen)
    const { requestId } = exchange
    const asked = pathOf(request.url)
    const path = canonicalPath(asked, hostRules.basePath)
    const answered = await answer(exchange, asked, path)
    const response = exchange.isHead ? await headersAlone(answered) : answered
    response.headers.set('x-request-id', requestId)
    secure(response.headers)
    cors.addHeaders(response, { request, path })
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
