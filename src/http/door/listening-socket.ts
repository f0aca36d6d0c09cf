// One listening socket: stops without losing a request, and replaces its certificate.

/** The part of Bun's server that this file uses. */
export type Socket = {
  hostname?: string | undefined
  port?: number | undefined
  readonly pendingRequests: number
  stop(closeActiveConnections?: boolean): Promise<void>
}

/**
 * How long a closing gate holds back answers: 100 ms, and more when turns of the event loop are long. While
 * clients wait for their answers, they neither open connections, which closing the socket would reset, nor
 * send requests on idle ones, which Bun closes too.
 */
const HOLD_TURNS = 10
const HOLD_TURN_MS = 10
/** The time for one turn of the event loop, which accepts the connections that wait at the old socket. */
const ACCEPT_MS = 1
const GRACE_MS = 10_000
/**
 * How long no request must have run before a stop resets connections with half a request, for which Bun would
 * wait.
 */
const QUIET_MS = 500
const POLL_MS = 20

/** The gate through which all answers of one socket leave. */
export type Gate = ReturnType<typeof createGate>

/** `isLeaving`: whether the server is about to stop, so that each answer ends its connection. */
function createGate(isLeaving: () => boolean) {
  /** Resolves when the socket has closed; null while the gate is open. */
  let closed: Promise<void> | null = null

  /**
   * Holds a finished answer back until the socket is closed, if it is closing. The answer then closes its
   * connection.
   */
  function pass(response: Response): Response | Promise<Response> {
    if (closed !== null || isLeaving()) response.headers.set('connection', 'close')
    return closed === null ? response : closed.then(() => response)
  }

  /**
   * Closes the socket by `closing` once all clients wait for answers. If `closing` throws, the gate opens
   * again.
   */
  async function close<T>(closing: () => T): Promise<Awaited<T>> {
    const { promise, resolve } = Promise.withResolvers<void>()
    closed = promise
    try {
      for (let turn = 0; turn < HOLD_TURNS; turn += 1) await Bun.sleep(HOLD_TURN_MS)
      return await closing()
    } catch (cause) {
      closed = null
      throw cause
    } finally {
      resolve()
    }
  }

  return { pass, close }
}

type SocketOptions<Certificate> = {
  certificate: Certificate
  listen: (certificate: Certificate, gate: Gate) => Socket
  isLeaving: () => boolean
}

/** Bun cannot change the certificate of a listening socket, so a renewal listens anew, on the same port. */
export function createListeningSocket<Certificate>(options: SocketOptions<Certificate>) {
  const { listen, isLeaving } = options
  /** Sockets that are closed for new connections while their downloads finish. */
  const retired = new Set<Socket>()
  let current = start(options.certificate)
  let isStopping = false

  function start(certificate: Certificate) {
    const gate = createGate(isLeaving)
    return { socket: listen(certificate, gate), gate }
  }

  /**
   * Resolves when every new connection gets the new certificate. If it cannot be served, throws and keeps the
   * old one.
   */
  async function renew(certificate: Certificate): Promise<void> {
    const { socket, gate } = current
    await gate.close(async () => {
      if (isStopping) return
      current = start(certificate)
      retired.add(socket)
      await Bun.sleep(ACCEPT_MS)
      void socket.stop().then(() => retired.delete(socket))
    })
  }

  async function stop(): Promise<void> {
    isStopping = true
    const stopped = await current.gate.close(() => [current.socket, ...retired].map(stopGently))
    await Promise.all(stopped)
  }

  return { socket: current.socket, renew, stop }
}

/** Lets running requests finish until a deadline, then resets their connections, which clients notice. */
async function stopGently(socket: Socket): Promise<void> {
  const stopped = socket.stop().then(() => true)
  const deadline = performance.now() + GRACE_MS
  let busyAt = performance.now()
  while (!(await Promise.race([stopped, Bun.sleep(POLL_MS)]))) {
    const now = performance.now()
    if (socket.pendingRequests > 0) busyAt = now
    if (now > deadline || now > busyAt + QUIET_MS) void socket.stop(true)
  }
}
