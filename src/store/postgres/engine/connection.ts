// One connection to PostgreSQL, from opening it to throwing it away. It is given up when nothing comes back for a while,
// because a network that swallows packets never says so.

import type { ReservedSQL, SQL } from 'bun'
import { type BunSQLDatabase, drizzle } from 'drizzle-orm/bun-sql'
import type { Session } from './database.ts'
import { type Deadline, deadlineIn } from './deadline.ts'
import { endsConnection } from './failures.ts'
import type { ServerTrust } from './server-facts.ts'
import type { Servers } from './servers.ts'

export type Connection = {
  /** Runs work on the connection. Closes it when patience ends, and when a failure leaves it unusable. */
  run<T>(work: (session: ControlledSession) => Promise<T>, patience: Patience): Promise<T>
  isOpen(): boolean
  /** Whether it ended by something that may have ended others as well. */
  isLost(): boolean
  /** Closes it because of an error that others may meet as well. */
  lose(): void
  close(): void
}

/** One answer may take `answer` milliseconds; the whole work has until `end`. */
export type Patience = { answer: number; end: Deadline }

export type ControlledSession = Session & {
  /** Does not wait for what was sent before. Resolves to the tag of the server's answer. */
  control(command: ControlCommand): Promise<string>
}

export type ControlCommand = 'BEGIN' | 'COMMIT' | 'ROLLBACK'

/** Opens a pool of at most `max` connections. `onClose` is called when one of them is lost. */
export type OpenPool = (max: number, onClose?: () => void) => SQL

export type Connect = OpenPool &
  ServerTrust & {
    /** For people; of several servers the one in use. */
    serverName?: () => string
    /** When the address names several servers; the pool is then one to the server in use. */
    servers?: Servers | undefined
  }

export type ConnectionOptions = {
  connect: OpenPool
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
  let state: 'open' | 'lost' | 'closed' = 'open'
  const end = (how: 'lost' | 'closed') => {
    if (state !== 'open') return
    state = how
    if (how === 'lost') onLost()
  }
  const client = connect(1, () => end('lost'))
  const shut = (how: 'lost' | 'closed') => {
    end(how)
    void client.close({ timeout: 0 }).catch(() => undefined)
  }
  const lose = () => shut('lost')
  const close = () => shut('closed')
  const patience = { answer: openWithin, end: deadlineIn(openWithin) }
  try {
    // Only a reserved connection stays one: the pool would open another behind a transaction that lost its own.
    const reserved = await watched(patience, () => client.reserve())
    const run: Connection['run'] = (work, patience) =>
      watched(patience, (touch) => work(sessionOf(reserved, touch))).catch((cause) => {
        // When the time of the work was over, that says nothing of other connections.
        if (cause instanceof SilenceError && cause.isLate) close()
        else if (endsConnection(cause)) lose()
        throw cause
      })
    await run((session) => session.query(TRUST_THE_SERVER_ALONE), patience)
    await run(prepare, patience)
    return { run, isOpen: () => state === 'open', isLost: () => state === 'lost', lose, close }
  } catch (cause) {
    close()
    throw cause
  }
}

/**
 * Without it, functions and operators that other users of the database created could run with the rights of Oncebox until
 * `prepare` has applied the settings. It is a statement, because PgBouncer refuses it as a parameter of the connection.
 */
const TRUST_THE_SERVER_ALONE = 'SET search_path = pg_catalog'

/** Nothing came back in time. Its code is like those of Bun for a connection that was lost. */
class SilenceError extends Error {
  readonly code = 'ERR_POSTGRES_CONNECTION_STALLED'
  /** The time was over for the whole work. */
  readonly isLate: boolean

  constructor(waited: number, isLate: boolean) {
    super(`PostgreSQL did not answer for ${Math.round(waited)} ms`)
    this.isLate = isLate
  }
}

/** A work that was begun in time has at least this long. */
const LEAST_MS = 500

/** Rejects when patience ends. `touch` tells that something is sent. The work itself may then go on. */
async function watched<T>({ answer, end }: Patience, work: (touch: () => void) => Promise<T>): Promise<T> {
  const { promise: silent, reject } = Promise.withResolvers<never>()
  const own = deadlineIn(Math.max(end.left(), LEAST_MS))
  let timer: Timer | undefined
  let isOver = false
  const touch = () => {
    clearTimeout(timer)
    const wait = Math.min(answer, own.left())
    if (!isOver) timer = setTimeout(() => reject(new SilenceError(wait, wait < answer)), wait)
  }
  touch()
  try {
    return await Promise.race([work(touch), silent])
  } finally {
    isOver = true
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
