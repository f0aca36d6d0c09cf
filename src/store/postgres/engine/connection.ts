// One connection to PostgreSQL, from opening it to throwing it away.

import type { ReservedSQL, SQL } from 'bun'
import { type ControlledSession, sessionOf } from './controlled-session.ts'
import type { Session } from './database.ts'
import { deadlineIn } from './deadline.ts'
import { endsConnection } from './failures.ts'
import { type Patience, SilenceError, watched } from './silence.ts'

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
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { connect, openWithin, prepare, onLost } = options
  const { client, ...life } = openClient(connect, onLost)
  const patience = { answer: openWithin, end: deadlineIn(openWithin) }
  try {
    // Only a reserved connection stays one: the pool would open another behind a transaction that lost its own.
    const reserved = await watched(patience, () => client.reserve())
    const run = runOn(reserved, life)
    await run((session) => session.query(TRUST_THE_SERVER_ALONE), patience)
    await run(prepare, patience)
    return { run, ...life }
  } catch (cause) {
    life.close()
    throw cause
  }
}

type Life = Omit<Connection, 'run'>

/** A client for one connection, which ends once: it is lost or closed. */
function openClient(connect: Connect, onLost: () => void): Life & { client: SQL } {
  let state: 'open' | 'lost' | 'closed' = 'open'
  const client = connect(1, () => end('lost'))

  function end(how: 'lost' | 'closed'): void {
    if (state !== 'open') return
    state = how
    if (how === 'lost') onLost()
  }

  function shut(how: 'lost' | 'closed'): void {
    end(how)
    void client.close({ timeout: 0 }).catch(() => undefined)
  }

  return {
    client,
    isOpen: () => state === 'open',
    isLost: () => state === 'lost',
    lose: () => shut('lost'),
    close: () => shut('closed'),
  }
}

function runOn(reserved: ReservedSQL, { lose, close }: Life): Connection['run'] {
  return (work, patience) =>
    watched(patience, (touch) => work(sessionOf(reserved, touch))).catch((cause) => {
      // A work that ran out of its own time says nothing of other connections.
      if (cause instanceof SilenceError && cause.isLate) close()
      else if (endsConnection(cause)) lose()
      throw cause
    })
}

/**
 * Without it, functions and operators that other users of the database created could run with the rights of Oncebox until
 * `prepare` has applied the settings. It is a statement, because PgBouncer refuses it as a parameter of the connection.
 */
const TRUST_THE_SERVER_ALONE = 'SET search_path = pg_catalog'
