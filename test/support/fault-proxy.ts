// A TCP proxy on loopback that fails as a test asks: it stalls, resets, or drops the server's answers.

import { createServer, type Server, type Socket, connect as toServer } from 'node:net'
import {
  type CommitReader,
  createCommitReader,
  createStatementReader,
  type SentStatement,
} from './sent-statements.ts'

/**
 * The treatment of bytes. `stall` holds them back, in both directions and on new connections, until the proxy
 * passes again. `reset` closes every connection, even new ones. `swallow` forwards the client's bytes and
 * drops the answers; when the proxy passes again, it resets the connections that have lost answers.
 */
export type Way = 'pass' | 'stall' | 'reset' | 'swallow'

export type FaultProxy = {
  port: number
  /** Applies to open and to new connections. */
  set(way: Way): void
  /**
   * Forwards the next statement with this text, drops its answer, and resets the connection. Does not affect
   * other connections.
   */
  swallowAfter(text: string): Promise<void>
  /**
   * Resets the connection of the next statement with this text, without forwarding it. Does not affect other
   * connections.
   */
  cutBefore(text: string): Promise<void>
  /**
   * Holds back for ever the next statement with this text and all later ones on its connection. Does not
   * affect other connections.
   */
  holdFrom(text: string): Promise<void>
  /**
   * Asks `decide` at each commit, with the statements of its transaction, what to do with it. Null forwards
   * all again.
   */
  decideCommits(decide: DecideCommit | null): void
  /** Calls `note` with each statement that arrives, and the number of its connection. */
  watch(note: (text: string, connection: number) => void): void
  /** Forwards new connections to this port. Resets the open ones, as if the address had moved. */
  lead(port: number): void
  countConnections(): number
  /** The number of connections that were reset at once. */
  countRefused(): number
  close(): Promise<void>
}

type Trapping = 'swallow' | 'cut' | 'hold'
export type DecideCommit = (statements: readonly string[]) => Trapping | null

type Pair = { client: Socket; server: Socket; hasLost: boolean; swallows: boolean; isHeld: boolean }
type Trap = { text: string; how: Trapping; sprung: () => void }

/** Passes connections on to this port of this machine. */
export async function startFaultProxy(firstPort: number): Promise<FaultProxy> {
  const pairs = new Set<Pair>()
  let way: Way = 'pass'
  let refused = 0
  let port = firstPort
  const traps: Trap[] = []
  let decideCommit: DecideCommit | null = null
  let watcher: ((text: string, connection: number) => void) | null = null
  let connections = 0

  function end(pair: Pair): void {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.destroy()
  }

  function accept(client: Socket): void {
    if (way === 'reset') {
      refused += 1
      return void client.resetAndDestroy()
    }
    const server = toServer({ host: '127.0.0.1', port, noDelay: true })
    client.setNoDelay(true)
    const pair = { client, server, hasLost: false, swallows: false, isHeld: false }
    pairs.add(pair)
    for (const socket of [client, server]) {
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
      if (way === 'stall') socket.pause()
    }
    connections += 1
    const connection = connections
    const readStatements = createStatementReader()
    const readCommit = createCommitReader()
    client.on('data', (bytes: Buffer) => {
      const statements = readStatements(bytes)
      for (const { text } of statements) watcher?.(text, connection)
      if (pair.isHeld) return
      const trapped = findTrapped(statements) ?? findDecided(statements, readCommit)
      if (trapped === null) return forward(bytes, client, server)
      if (trapped.how === 'swallow') server.write(bytes)
      else server.write(bytes.subarray(0, Math.max(0, trapped.at)))
      spring(pair, trapped.how)
    })
    server.on('data', (bytes) => {
      if (pair.isHeld) return
      if (way !== 'swallow' && !pair.swallows) return forward(bytes, server, client)
      pair.hasLost = true
      if (pair.swallows) end(pair)
    })
  }

  function findTrapped(statements: SentStatement[]): { at: number; how: Trap['how'] } | null {
    for (const { at, text } of statements) {
      const index = traps.findIndex((trap) => text.includes(trap.text))
      const [trap] = index === -1 ? [] : traps.splice(index, 1)
      trap?.sprung()
      if (trap !== undefined) return { at, how: trap.how }
    }
    return null
  }

  function findDecided(statements: SentStatement[], readCommit: CommitReader) {
    for (const { at, text } of statements) {
      const transaction = readCommit(text)
      const how = transaction === null ? null : (decideCommit?.(transaction) ?? null)
      if (how !== null) return { at, how }
    }
    return null
  }

  function spring(pair: Pair, how: Trap['how']): void {
    if (how === 'swallow') pair.swallows = true
    if (how === 'hold') pair.isHeld = true
    // Close after the bytes before the statement were sent.
    if (how === 'cut') pair.server.end(() => end(pair))
  }

  const setTrap = (how: Trap['how']) => (text: string) =>
    new Promise<void>((resolve) => {
      traps.push({ text, how, sprung: resolve })
    })

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
    swallowAfter: setTrap('swallow'),
    cutBefore: setTrap('cut'),
    holdFrom: setTrap('hold'),
    decideCommits: (decide) => {
      decideCommit = decide
    },
    watch: (note) => {
      watcher = note
    },
    lead: (next) => {
      port = next
      for (const pair of [...pairs]) end(pair)
    },
    countConnections: () => pairs.size,
    countRefused: () => refused,
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
