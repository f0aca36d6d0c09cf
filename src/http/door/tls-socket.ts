// A listening socket whose certificate can be replaced without losing a request.

/** What `Bun.serve` returns, as far as it is used here. */
export type Socket = {
  hostname?: string | undefined
  port?: number | undefined
  readonly pendingRequests: number
  stop(closeActiveConnections?: boolean): Promise<void>
}

export type Retiring = { isRetiring: boolean }

export type RenewableOptions<Pair> = {
  /** Listens beside the socket before it. While `retiring.isRetiring`, its answers end their connections. */
  open: (pair: Pair, retiring: Retiring) => Socket
  /** How long an idle connection is kept. */
  idleMs: number
  stopGently: (socket: Socket) => Promise<void>
}

export type Renewable<Pair> = {
  socket: Socket
  /** From now on new connections get the new certificate, and so do clients of old ones when they reconnect. */
  renew(pair: Pair): void
  stop(): Promise<void>
}

/** The longest wait for a moment without a request, and how often to look. */
const PATIENCE_MS = 30_000
const LOOK_MS = 20

/**
 * Bun cannot change the certificate of a listening socket. So a second socket listens on the same port. The first one asks
 * its clients to reconnect, and stops when idle connections have had time to end.
 */
export function createRenewable<Pair>(first: Pair, options: RenewableOptions<Pair>): Renewable<Pair> {
  const { open, idleMs, stopGently } = options
  const retired = new Set<Socket>()
  let current = start(first)

  function start(pair: Pair) {
    const retiring: Retiring = { isRetiring: false }
    return { socket: open(pair, retiring), retiring }
  }

  function renew(pair: Pair): void {
    const { socket, retiring } = current
    current = start(pair)
    retiring.isRetiring = true
    retired.add(socket)
    void retire(socket)
  }

  async function retire(socket: Socket): Promise<void> {
    await Bun.sleep(idleMs)
    for (let waited = 0; socket.pendingRequests > 0 && waited < PATIENCE_MS; waited += LOOK_MS) {
      await Bun.sleep(LOOK_MS)
    }
    // Downloads that still run go on until they end.
    await socket.stop()
    retired.delete(socket)
  }

  return {
    socket: current.socket,
    renew,
    stop: async () => {
      await Promise.all([current.socket, ...retired].map(stopGently))
    },
  }
}
