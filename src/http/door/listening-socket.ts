// One listening socket: stops without losing a request, and replaces its certificate.

import { UNIX_PEER } from './client-address.ts'
import type { Handle } from './server.ts'
import type { Shed } from './shed.ts'

/** What `Bun.serve` returns, as far as it is used here. */
export type Socket = {
  hostname?: string | undefined
  port?: number | undefined
  readonly pendingRequests: number
  stop(closeActiveConnections?: boolean): Promise<void>
}

/**
 * Null until the socket is about to close. From then on answers wait until it is closed, and end their
 * connections.
 */
export type Ending = { closed: Promise<void> | null }

/**
 * How long answers wait for the socket to close: 100 ms, and more when turns of the event loop are long. A
 * client that waits for its answer opens no connection, which closing would reset, and sends no request on an
 * idle one, which Bun closes too.
 */
const HOLD_TURNS = 10
const HOLD_TURN_MS = 10
/** For a turn of the event loop, which accepts connections that wait at the old socket. */
const ACCEPT_MS = 1
const GRACE_MS = 10_000
/**
 * How long no request may run before a stop resets what is left: connections with half a request, which Bun
 * waits for.
 */
const QUIET_MS = 500
const LOOK_MS = 20

/** Bun cannot change the certificate of a listening socket, so `open` listens anew, on the same port. */
export function createListeningSocket<Pair>(first: Pair, open: (pair: Pair, ending: Ending) => Socket) {
  /** Closed for new connections, while downloads go on. */
  const retired = new Set<Socket>()
  let current = start(first)
  let isStopping = false

  function start(pair: Pair) {
    const ending: Ending = { closed: null }
    return { socket: open(pair, ending), ending }
  }

  /**
   * Resolves when every new connection gets the new certificate. Throws if it cannot be served; the old one
   * is then kept.
   */
  async function renew(pair: Pair): Promise<void> {
    const { socket, ending } = current
    const release = await holdAnswers(ending)
    try {
      if (isStopping) return
      current = start(pair)
      retired.add(socket)
      await Bun.sleep(ACCEPT_MS)
      void socket.stop().then(() => retired.delete(socket))
    } catch (cause) {
      ending.closed = null
      throw cause
    } finally {
      release()
    }
  }

  async function stop(): Promise<void> {
    isStopping = true
    const release = await holdAnswers(current.ending)
    const stopped = [current.socket, ...retired].map(stopGently)
    release()
    await Promise.all(stopped)
  }

  return { socket: current.socket, renew, stop }
}

/** Resolves, when all who ask wait, to what lets them have their answers. */
async function holdAnswers(ending: Ending): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  ending.closed = promise
  for (let turn = 0; turn < HOLD_TURNS; turn += 1) await Bun.sleep(HOLD_TURN_MS)
  return resolve
}

/** Lets running requests finish for a while, then resets their connections, which clients notice. */
async function stopGently(socket: Socket): Promise<void> {
  const stopped = socket.stop().then(() => true)
  const until = performance.now() + GRACE_MS
  let busyAt = performance.now()
  while (!(await Promise.race([stopped, Bun.sleep(LOOK_MS)]))) {
    const now = performance.now()
    if (socket.pendingRequests > 0) busyAt = now
    if (now > until || now > busyAt + QUIET_MS) void socket.stop(true)
  }
}

export const IDLE_SECONDS = 30
type Answers = {
  handle: Handle
  shed: Shed
  /** Whether the server is about to stop. */
  isLeaving: () => boolean
}

type Peers = { isUnix: boolean; ending: Ending }

/** What a socket calls for each request. */
export function createFetch({ handle, shed, isLeaving }: Answers, { isUnix, ending }: Peers) {
  /** Looks when the answer is ready, because the server may have begun to stop meanwhile. */
  function send(response: Response): Response | Promise<Response> {
    if (ending.closed !== null || isLeaving()) response.headers.set('connection', 'close')
    return ending.closed === null ? response : ending.closed.then(() => response)
  }

  return (request: Request, socket: Bun.Server<undefined>): Response | Promise<Response> => {
    // Bun's own idle timeout would end a connection that sends less than 16 KiB/s.
    const stayOpen = () => socket.timeout(request, IDLE_SECONDS)
    const refusal = shed(request)
    if (refusal !== null) return send(refusal)
    const peer = isUnix ? UNIX_PEER : (socket.requestIP(request)?.address ?? '')
    return handle(request, peer, stayOpen).then(send)
  }
}
