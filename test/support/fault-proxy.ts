// A TCP proxy on loopback that fails as tests ask: it stalls, resets, or swallows what the server answers.

import { createServer, type Server, type Socket, connect as toServer } from 'node:net'

/**
 * What happens to bytes. `stall` keeps them, in both directions and on new connections, until the proxy passes again.
 * `reset` ends every connection, new ones too. `swallow` hands on what the client sends and drops the answers; the
 * connections that lost answers are reset when the proxy passes again.
 */
export type Way = 'pass' | 'stall' | 'reset' | 'swallow'

export type FaultProxy = {
  port: number
  /** Holds for the connections that are open and for new ones. */
  set(way: Way): void
  /** Swallows the answers of the first connection that sends these bytes, and resets it. The others go on. */
  swallowAfter(bytes: string): Promise<void>
  /** New connections lead to this port. The open ones are reset, as those of an address that moved. */
  lead(port: number): void
  countConnections(): number
  close(): Promise<void>
}

type Pair = { client: Socket; server: Socket; hasLost: boolean; swallows: boolean }

/** Passes connections on to this port of this machine. */
export async function startFaultProxy(firstPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>()
  let way: Way = 'pass'
  let port = firstPort
  let trap: { bytes: string; sprung: () => void } | null = null

  function end(pair: Pair): void {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.destroy()
  }

  function accept(client: Socket): void {
    if (way === 'reset') return void client.resetAndDestroy()
    const server = toServer({ host: '127.0.0.1', port, noDelay: true })
    client.setNoDelay(true)
    const pair = { client, server, hasLost: false, swallows: false }
    pairs.add(pair)
    for (const socket of [client, server]) {
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
      if (way === 'stall') socket.pause()
    }
    client.on('data', (bytes) => {
      if (trap !== null && bytes.includes(trap.bytes)) spring(pair)
      forward(bytes, client, server)
    })
    server.on('data', (bytes) => {
      if (way !== 'swallow' && !pair.swallows) return forward(bytes, server, client)
      pair.hasLost = true
      if (pair.swallows) end(pair)
    })
  }

  function spring(pair: Pair): void {
    pair.swallows = true
    trap?.sprung()
    trap = null
  }

  function forward(bytes: Buffer | string, from: Socket, to: Socket): void {
    if (to.write(bytes)) return
    from.pause()
    to.once('drain', () => way !== 'stall' && from.resume())
  }

  const listener = createServer(accept)
  return {
    port: await listen(listener),
    set: (next) => {
      way = next
      for (const pair of pairs) {
        if (next === 'reset' || (pair.hasLost && next !== 'swallow')) end(pair)
        else
          for (const socket of [pair.client, pair.server]) next === 'stall' ? socket.pause() : socket.resume()
      }
    },
    swallowAfter: (bytes) =>
      new Promise((resolve) => {
        trap = { bytes, sprung: resolve }
      }),
    lead: (next) => {
      port = next
      for (const pair of [...pairs]) end(pair)
    },
    countConnections: () => pairs.size,
    close: async () => {
      const closed = new Promise((resolve) => listener.close(resolve))
      for (const pair of [...pairs]) end(pair)
      await closed
    },
  }
}

async function listen(listener: Server): Promise<number> {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address.port
}
