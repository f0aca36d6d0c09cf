// The connections to PostgreSQL, and transactions over them that can be trusted.
//
// A transaction writes a row with an id of its own. When the connection is lost after its COMMIT was sent, the node inserts
// the same id as void on another connection: that waits for a commit still in flight, and tells for good what happened.

import type { BunSQLDatabase } from 'drizzle-orm/bun-sql'
import type { DatabaseCounts } from '../../database-face.ts'
import type { OnState } from './absence.ts'
import { createChange } from './changes.ts'
import { type Connect, openConnection } from './connection.ts'
import { createConnections } from './connections.ts'
import { deadlineIn } from './deadline.ts'
import { explainFailure } from './failures.ts'
import { createFullness } from './fullness.ts'
import { createPersist } from './persisting.ts'
import { checkServer } from './server-check.ts'
import { applySettings } from './session-settings.ts'
import type { Patience } from './silence.ts'
import { ANSWER_MS, attemptTransaction } from './transaction.ts'
import { createWorkCounts } from './work-counts.ts'

/** One connection, within a transaction or for one read. */
export type Session = {
  /** Parameters are $1, $2, …; a parameter may be an array. Columns of type bigint come as strings: cast them to float8. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** For cold paths: it costs 7 to 21 µs a query more. */
  orm: BunSQLDatabase
}

/** `within`: milliseconds for the whole, for work that may take longer than a request. */
export type WorkOptions = { within?: number }

/** Runs work that only reads, outside any transaction. It may run again, on another connection. */
export type Read = <T>(work: (session: Session) => Promise<T>, options?: WorkOptions) => Promise<T>

/**
 * Runs work in one transaction (READ COMMITTED), and resolves once it is durable. The work may run several times, so it has
 * no effects outside the database. Throws `overloaded` when nothing happened, or when it cannot be known, and `disk_full`.
 */
export type Transact = <T>(work: (session: Session) => Promise<T>, options?: WorkOptions) => Promise<T>

export type PostgresDatabase = {
  read: Read
  transact: Transact
  count(): DatabaseCounts
  /** Whether the server has refused changes lately for want of room on its disk. */
  isFull(): boolean
  close(): Promise<void>
}

export type DatabaseOptions = {
  connect: Connect
  /** Most connections at once. */
  connections?: number | undefined
  onState?: OnState | undefined
  /** Called when the disk of the server begins to be full, and when it has had room for a while, with how long it was full. */
  onFull?: () => void
  onRoom?: (fullFor: number) => void
  /** Runs on each new connection before its first use; throws to refuse the server. */
  onConnect?: (session: Session) => Promise<void>
  /** Called with the id of each transaction that is durable. */
  onAcknowledged?: (operationId: Uint8Array) => void
}

const CONNECTIONS = 8
const OPEN_MS = 2500
/** A request is answered within 10 s; this is the part that a transaction may take. */
const WITHIN_MS = 7000
/** Reads are mostly followed by something that also takes its time. */
const READ_WITHIN_MS = 5000

export function createDatabase(options: DatabaseOptions): PostgresDatabase {
  const { connect, connections: max = CONNECTIONS, onAcknowledged = () => undefined } = options
  const { onState = () => undefined, onConnect = async () => undefined } = options
  const { onFull = () => undefined, onRoom = () => undefined } = options
  const fullness = createFullness({ elapsed: () => performance.now(), onFull, onRoom })
  const counts = createWorkCounts()
  const prepare = async (session: Session) => {
    await applySettings(session)
    await checkServer(session)
    await onConnect(session)
  }
  const open = (onLost: () => void) => openConnection({ connect, openWithin: OPEN_MS, prepare, onLost })
  const connections = createConnections({ open, max, onState })
  const persist = createPersist({
    onRetry: counts.retried,
    explain: (cause) => fullness.note(explainFailure(cause)),
  })

  /** Runs work on any connection until it succeeds. */
  function run<T>(work: (session: Session) => Promise<T>, patience: Patience, isUrgent = false): Promise<T> {
    return persist(patience.end, () =>
      connections.use({ deadline: patience.end, isUrgent }, async (connection) => ({
        value: await connection.run(work, patience),
      })),
    )
  }

  const change = createChange({
    ...{ connections, persist, settling: counts.settling },
    runUrgently: (work, patience) => run(work, patience, true),
    onDurable: (operationId) => {
      onAcknowledged(operationId)
      fullness.changed()
    },
  })

  const read: Read = (work, { within = READ_WITHIN_MS } = {}) =>
    counts.during('reads', run(work, patienceOf(within)))
  const transact: Transact = (work, { within = WITHIN_MS } = {}) =>
    counts.during(
      'transactions',
      change((given) => attemptTransaction(given, work), patienceOf(within)),
    )

  const count = () => ({ ...counts.read(), connections: connections.count() })
  const close = async () => connections.close()
  return { read, transact, count, isFull: fullness.isFull, close }
}

/** Work that may take longer than a request may also wait as long for one answer. */
function patienceOf(within: number): Patience {
  return { answer: within > WITHIN_MS ? within : ANSWER_MS, end: deadlineIn(within) }
}
