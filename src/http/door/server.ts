// The front door: checks the address, limits, Host and path of every request, passes it to its route, and
// logs it.

import { type DomainError, notFound } from '../../domain/errors.ts'
import type { Secure } from '../answers.ts'
import { EXEMPT_PATHS } from '../urls.ts'
import { type BodyRoom, sendInPieces } from './body-room.ts'
import type { ReadForwarded } from './client-address.ts'
import type { Cors } from './cors.ts'
import type { PresentError } from './errors.ts'
import { type Exchange, requireOpen } from './exchange.ts'
import { answersAnyHost, type HostRules, readHost } from './host.ts'
import { createRefusalOfSite } from './other-sites.ts'
import { canonicalPath, isDecodable, pathOf } from './paths.ts'
import type { LimitRate } from './rate-limit.ts'
import type { Answer, AnswerRoute } from './router.ts'

/** Called once a request has been answered. `route` is a pattern, never the path. */
export type LogRequest = (line: {
  method: string
  route: string
  status: number
  /** Rounded to hundredths. */
  durationMs: number
  requestId: string
}) => void

/** Calls `answer` and returns its response, which it may inspect. */
type Observe = (exchange: Exchange, answer: (exchange: Exchange) => Promise<Response>) => Promise<Response>

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
  /** Answers in place of the door, for --audit-log, which records what happens. Absent without the flag. */
  observe?: Observe | undefined
  /** Whether TLS ends in this process. */
  isTls: boolean
  /** The value of --receive-url; null without it. */
  receiveUrl: string | null
  /** Whether this is the door of --receive-listen. */
  isOutside: boolean
}

/** Answers one request. `peer`: the address of its socket; `stayOpen` extends its idle timeout. */
export type Handle = (request: Request, peer: string, stayOpen?: () => void) => Promise<Response>

async function headersAlone(response: Response): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  if (!headers.has('content-length')) {
    headers.set('content-length', String((await response.arrayBuffer()).byteLength))
  }
  return new Response(null, { status, headers })
}

export function createFrontDoor(options: FrontDoorOptions): Handle {
  const { answerRoute, readForwarded, hostRules, cors, limitRate, limitOtherSites } = options
  const { bodyRoom, presentError, secure, newRequestId, logRequest, isTls, receiveUrl, isOutside, observe } =
    options
  const refusalOfSite = createRefusalOfSite({
    isOwnOrigin: hostRules.isOwnOrigin,
    isListed: cors.isListed,
  })

  const isExempt = (path: string) => !isOutside && EXEMPT_PATHS.has(path)

  /**
   * Throws for another site, for too many requests and for a foreign Host. Returns a promise only if it must
   * wait.
   */
  function answerOrThrow(exchange: Exchange): Answer {
    const { request, path, clientAddress } = exchange
    const refusal = refusalOfSite(exchange)
    if (refusal !== null) return refuse(refusal, exchange)
    const preflight = cors.answerPreflight(request, path)
    if (preflight !== null) return preflight
    const limited = isExempt(path) ? null : limitRate(clientAddress)
    return limited === null ? answerByRoute(exchange) : limited.then(() => answerByRoute(exchange))
  }

  /**
   * Counts against a separate limit, so that other sites cannot use up the limit of the person at the
   * browser.
   */
  async function refuse(refusal: DomainError, { path, clientAddress }: Exchange): Promise<never> {
    if (!isExempt(path)) await limitOtherSites(clientAddress)
    throw refusal
  }

  function answerByRoute(exchange: Exchange): Answer {
    const { path, host } = exchange
    if (!answersAnyHost(path)) hostRules.check(host, exchange)
    if (!isDecodable(path)) throw notFound()
    return answerRoute(exchange)
  }

  function open(request: Request, peer: string, stayOpen: () => void): Exchange {
    const startedAt = performance.now()
    const { headers } = request
    const forwarded = readForwarded(peer, headers)
    const scheme = forwarded.scheme ?? (isTls ? 'https' : null)
    const host = readHost(forwarded.host ?? headers.get('host'))
    const baseUrl = hostRules.baseUrlFor({ scheme, host })
    const exchange: Exchange = {
      request,
      path: canonicalPath(pathOf(request.url), hostRules.basePath),
      isHead: request.method === 'HEAD',
      requestId: newRequestId(),
      route: '-',
      baseUrl,
      linkBase: receiveUrl ?? baseUrl,
      isOutside,
      host,
      scheme,
      clientAddress: forwarded.address,
      isFromProxy: forwarded.isTrusted,
      stayOpen,
      makeRoom: (bytes) => {
        requireOpen(exchange)
        bodyRoom.takeForAnswer(exchange, bytes)
      },
      heldBytes: 0,
      startedAt,
      endBody: null,
    }
    return exchange
  }

  async function answer(exchange: Exchange): Promise<Response> {
    try {
      return await answerOrThrow(exchange)
    } catch (cause) {
      return presentError(cause, exchange)
    }
  }

  const answering = observe === undefined ? answer : (exchange: Exchange) => observe(exchange, answer)

  return async (request, peer, stayOpen = () => undefined) => {
    const exchange = open(request, peer, stayOpen)
    let response = await answering(exchange)
    if (exchange.isHead) response = await headersAlone(response)
    // Large answers hold their room until the client has received them.
    if (bodyRoom.isHeldBy(exchange)) response = await sendInPieces(response, { exchange, bodyRoom })
    const { status, headers } = response
    const { requestId, route } = exchange
    headers.set('x-request-id', requestId)
    secure(headers)
    cors.addHeaders(headers, exchange)
    const durationMs = Math.round((performance.now() - exchange.startedAt) * 100) / 100
    logRequest({ method: request.method, route, status, durationMs, requestId })
    return response
  }
}
