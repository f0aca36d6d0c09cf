// The servers that an address names. One of them is used: the others are its standbys, or were primaries before.

import type { DatabaseAddress } from '../../../domain/database-address.ts'
import type { OpenPool } from './connection.ts'

export type Server = {
  /** For people, such as `db2.example:5432`. */
  name: string
  /** Of this server alone. */
  address: DatabaseAddress
  open: OpenPool
}

export type Servers = {
  /** The one in use first, then the others in the order of the address. */
  inOrder(): readonly Server[]
  current(): Server
  use(server: Server): void
}

/** `onUse` is called with each server that is used instead of another, and with the first one. */
export function createServers(all: readonly [Server, ...Server[]], onUse: (server: Server) => void): Servers {
  let used: Server | null = null
  const current = () => used ?? all[0]
  return {
    current,
    inOrder: () => [current(), ...all.filter((server) => server !== current())],
    use: (server) => {
      if (used === server) return
      used = server
      onUse(server)
    },
  }
}

/** Of two that take writes, the one with the earlier timeline. */
export function explainLeftBehind(left: Server, used: Server): string {
  return `${left.name} was left behind by a failover to ${used.name}, and still takes writes: stop it, and make it a standby.`
}

/** None of the servers can be used. */
export class NoServerError extends Error {
  readonly failures: readonly ServerFailure[]

  constructor(failures: readonly ServerFailure[]) {
    super('no server of PostgreSQL can be used')
    this.failures = failures
  }
}

export type ServerFailure = { server: Server; cause: unknown }

/** How long a server may take to answer before the next one is tried as well. */
const HEAD_START_MS = 300
/** After this long all of them are being tried, however many there are. */
const ALL_STARTED_MS = 600

/**
 * Tries the servers in order, and the next one while one is slow. Resolves to what the first successful attempt made; what
 * later ones make is discarded. Throws NoServerError.
 */
export function tryServers<T>(
  servers: readonly Server[],
  attempt: (server: Server) => Promise<T>,
  discard: (made: T) => void,
): Promise<{ server: Server; made: T }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ server: Server; made: T }>()
  const headStart = Math.min(HEAD_START_MS, ALL_STARTED_MS / Math.max(1, servers.length - 1))
  const causes = new Map<Server, unknown>()
  const waiting = [...servers]
  let timer: Timer | undefined
  let isOver = false

  function startNext(): void {
    clearTimeout(timer)
    const server = isOver ? undefined : waiting.shift()
    if (server === undefined) return
    timer = setTimeout(startNext, headStart)
    attempt(server).then(
      (made) => succeed(server, made),
      (cause) => fail(server, cause),
    )
  }

  function succeed(server: Server, made: T): void {
    clearTimeout(timer)
    if (isOver) discard(made)
    else resolve({ server, made })
    isOver = true
  }

  function fail(server: Server, cause: unknown): void {
    causes.set(server, cause)
    if (causes.size < servers.length) startNext()
    else reject(new NoServerError(servers.map((server) => ({ server, cause: causes.get(server) }))))
  }

  startNext()
  return promise
}
