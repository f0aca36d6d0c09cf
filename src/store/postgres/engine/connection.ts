// One connection to PostgreSQL, from opening it to throwing it away. It is given up when nothing comes back for a while,
// because a network that swallows packets never says so.

import type { ReservedSQL, SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import type { Session } from './database.ts'

export type Connection = {
  /** Runs work on the connection, and gives it up when the work sends nothing and does not end for `stall` milliseconds. */
  run<T>(work: (session: ControlledSession) => Promise<T>, stall: number): Promise<T>
  /** Whether it was lost or closed. */
  isLost(): boolean
  close(): void
}

export type ControlledSession = Session & {
  /** Does not wait for what was sent before. Resolves to the tag of the server's answer. */
  control(command: ControlCommand): Promise<string>
}

export type ControlCommand = 'BEGIN' | 'COMMIT' | 'ROLLBACK'

/** Opens a pool of at most `max` connections. `onClose` is called when one of them is lost. */
export type Connect = (max: number, onClose?: () => void) => SQL

export type ConnectionOptions = {
  connect: Connect
  /** Milliseconds until an attempt is given up. */
  openWithin: number
  /** Makes a connection fit for use. When it fails, the connection is thrown away. */
  prepare: (session: Session) => Promise<void>
  onLost: () => void
}

/** Throws the cause when the connection cannot be opened. */
export async function openConnection({
  connect,
  openWithin,
  prepare,
  onLost,
}: ConnectionOptions): Promise<Connection> {
  let isLost = false
  const client = connect(1, () => {
    if (isLost) return
    isLost = true
    onLost()
  })
  const close = () => {
    isLost = true
    void client.close({ timeout: 0 }).catch(() => undefined)
  }
  try {
    // Only a reserved connection stays one: the pool would open another behind a transaction that lost its own.
    const reserved = await watched(openWithin, () => client.reserve())
    const run: Connection['run'] = (work, stall) =>
      watched(stall, (touch) => work(sessionOf(reserved, touch))).catch((cause) => {
        if (cause instanceof StalledError) close()
        throw cause
      })
    await run(prepare, openWithin)
    return { run, isLost: () => isLost, close }
  } catch (cause) {
    close()
    throw cause
  }
}

/** Nothing came back in time. Its code is like those of Bun for a connection that was lost. */
class StalledError extends Error {
  readonly code = 'ERR_POSTGRES_CONNECTION_STALLED'

  constructor(stall: number) {
    super(`PostgreSQL did not answer for ${stall} ms`)
  }
}

/** Rejects when the work neither ends nor calls `touch` for `stall` milliseconds. The work itself may then go on. */
async function watched<T>(stall: number, work: (touch: () => void) => Promise<T>): Promise<T> {
  const { promise: stalled, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new StalledError(stall)), stall)
  try {
    return await Promise.race([work(() => timer.refresh()), stalled])
  } finally {
    clearTimeout(timer)
  }
}

function sessionOf(reserved: ReservedSQL, touch: () => void): ControlledSession {
  let orm: BunSQLDatabase | undefined
  return {
    query: (text, values = []) => {
      touch()
      return reserved.unsafe(text, [...values])
    },
    get orm() {
      orm ??= drizzle({ client: touching(reserved, touch) })
      return orm
    },
    control: async (command) => {
      touch()
      const { command: tag } = await CONTROLS[command](reserved)
      return tag
    },
  }
}

/** Prepared statements, which the client sends without waiting; those of `unsafe` without parameters wait. */
const CONTROLS: Record<ControlCommand, (reserved: ReservedSQL) => SQL.Query<{ command: string }>> = {
  BEGIN: (reserved) => reserved`BEGIN`,
  COMMIT: (reserved) => reserved`COMMIT`,
  ROLLBACK: (reserved) => reserved`ROLLBACK`,
}

function touching(reserved: ReservedSQL, touch: () => void): ReservedSQL {
  return new Proxy(reserved, {
    get: (target, name, receiver) => {
      touch()
      return Reflect.get(target, name, receiver)
    },
  })
}
