// The connections to PostgreSQL, and transactions over them that can be trusted.
//
// A transaction writes a row with an id of its own. When the connection is lost after its COMMIT was sent, the node inserts
// the same id as void on another connection: that waits for a commit still in flight, and tells for good what happened.

import type { BunSQLDatabase } from 'drizzle-orm/bun-sql'
import type { DatabaseCounts } from '../../database-face.ts'
import type { Connect, Connection, Patience } from './connection.ts'
import { createConnections, type OnState } from './connections.ts'
import { type Deadline, deadlineIn } from './deadline.ts'
import { endsConnection, explainFailure, isPassing, unavailable } from './failures.ts'
import { createFullness } from './fullness.ts'
import { createOpener, type OnConnect } from './opener.ts'
import { type Outcome, settleOperation } from './settlement.ts'
import { ANSWER_MS, attemptStatement, attemptTransaction, UnknownOutcome } from './transaction.ts'
import { createWorkCounts } from './work-counts.ts'

/** One connection, within a transaction or for one read. */
export type Session = {
  /** Parameters are $1, $2, …; a parameter may be an array. Columns of type bigint come as strings: cast them to float8. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** For cold paths: it costs 7 to 21 µs a query more. */
  orm: BunSQLDatabase
}

export type Statement = { text: string; values: readonly unknown[] }

/** `within`: milliseconds for the whole, for work that may take longer than a request. */
export type WorkOptions = { within?: number }

/** Runs work that only reads, outside any transaction. It may run again, on another connection. */
export type Read = <T>(work: (session: Session) => Promise<T>, options?: WorkOptions) => Promise<T>

/**
 * Runs work in one transaction (READ COMMITTED), and resolves once it is durable. The work may run several times, so it has
 * no effects outside the database. Throws `overloaded` when nothing happened, or when it cannot be known, and `disk_full`.
 */
export type Transact = <T>(work: (session: Session) => Promise<T>, options?: WorkOptions) => Promise<T>

/**
 * Runs one statement that is a transaction by itself, which is faster. The statement inserts a row into `operations` with the
 * given id and a `result`, and returns that row's `result::float8[]`; so the result is known also when the answer was lost.
 * The statement may be made several times, with another id each. Throws as `Transact` does.
 */
export type Write = (make: (operationId: Uint8Array) => Statement, options?: WorkOptions) => Promise<number[]>

export type PostgresDatabase = {
  read: Read
  transact: Transact
  write: Write
  count(): DatabaseCounts
  /** Looks for the right server anew: no work that begins later uses a connection of now. */
  renew(): void
  /** Uses the server of several that a failover made the primary, also while the one before goes on. */
  followFailover(): Promise<void>
  /** Whether the server has refused changes lately for want of room on its disk. */
  isFull(): boolean
  close(): Promise<void>
}

export type DatabaseOptions = {
  connect: Connect
  /** 16 random bytes. */
  newOperationId: () => Uint8Array
  /** Most connections at once. */
  connections?: number
  onState?: OnState
  /** Called when the disk of the server begins to be full. */
  onFull?: () => void
  /** Runs on each new connection before its first use; throws to refuse the server. */
  onConnect?: OnConnect
  /** Called with the id of each transaction that is durable. */
  onAcknowledged?: (operationId: Uint8Array) => void
}

const CONNECTIONS = 8
/** What a request may take of the 10 s in which everybody gets an answer. */
const WITHIN_MS = 7000
/** Reads are mostly followed by something that also takes its time. */
const READ_WITHIN_MS = 5000
/** A settlement has at least this long, also when it begins late. */
const SETTLE_MS = 1500
const LAST_PAUSE_MS = 250

export function createDatabase(options: DatabaseOptions): PostgresDatabase {
  const { connect, newOperationId, connections: max = CONNECTIONS, onState = () => undefined } = options
  const fullness = createFullness({
    elapsed: () => performance.now(),
    onFull: options.onFull ?? (() => undefined),
  })
  const { onConnect = async () => undefined, onAcknowledged = () => undefined } = options
  const counts = createWorkCounts()
  const opener = createOpener({ connect, onConnect })
  const connections = createConnections({ open, max, onState })
  let looking: Promise<void> | null = null

  /** A connection that was lost may have been lost because another server is the primary now. */
  async function open(onLost: () => void): Promise<Connection> {
    const connection = await opener.open(onLost)
    void followFailover()
    return connection
  }

  function followFailover(): Promise<void> {
    looking ??= opener
      .findSuccessor()
      .then((isFound) => (isFound ? connections.renew() : undefined))
      .finally(() => {
        looking = null
      })
    return looking
  }

  async function withConnection<T>(
    wait: { deadline: Deadline; isUrgent: boolean },
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const connection = await connections.acquire(wait)
    try {
      return await work(connection)
    } finally {
      connections.release(connection)
    }
  }

  /** Runs attempts until one succeeds, fails for good, or the time is over. */
  async function persist<T>(deadline: Deadline, attempt: () => Promise<{ value: T } | null>): Promise<T> {
    for (let failures = 1; ; failures += 1) {
      const [done, cause] = await attempt().then(
        (value) => [value, null] as const,
        (cause) => [null, cause] as const,
      )
      if (done !== null) return done.value
      if (cause !== null && !isPassing(cause)) throw fullness.note(explainFailure(cause))
      if (deadline.isOver()) throw unavailable(cause)
      counts.retried()
      await Bun.sleep(pauseAfter(failures))
    }
  }

  /** Up to twice as long as another node waits after the same conflict. */
  function pauseAfter(failures: number): number {
    const [random = 0] = newOperationId()
    return Math.min(LAST_PAUSE_MS, 2 ** failures) * (1 + random / 256)
  }

  /**
   * Throws `overloaded` when the outcome stays unknown. It is not settled later: the caller is told nothing that depends on it,
   * so a view may be counted whose payload nobody got, but never the reverse.
   */
  async function settle(operationId: Uint8Array, deadline: Deadline): Promise<Outcome> {
    const end = deadline.left() < SETTLE_MS ? deadlineIn(SETTLE_MS) : deadline
    const settlement = persist(end, async () => {
      const value = await withConnection({ deadline: end, isUrgent: true }, (connection) =>
        run(connection, (session) => settleOperation(session, operationId), { answer: ANSWER_MS, end }),
      )
      return { value }
    })
    return counts.settling(settlement)
  }

  const read: Read = (work, { within = READ_WITHIN_MS } = {}) => {
    const deadline = deadlineIn(within)
    const reading = persist(deadline, () =>
      withConnection({ deadline, isUrgent: false }, async (connection) => ({
        value: await run(connection, work, patienceOf(within, deadline)),
      })),
    )
    return counts.during('reads', reading)
  }

  const transact: Transact = <T>(
    work: (session: Session) => Promise<T>,
    { within = WITHIN_MS }: WorkOptions = {},
  ) => {
    const deadline = deadlineIn(within)
    const transaction = persist<T>(deadline, async () => {
      const operationId = newOperationId()
      let kept: { value: T } | null = null
      const keep = (value: T) => {
        kept = { value }
      }
      try {
        await withConnection({ deadline, isUrgent: false }, (connection) =>
          attemptTransaction({ connection, operationId, patience: patienceOf(within, deadline), work }, keep),
        )
      } catch (cause) {
        if (!(cause instanceof UnknownOutcome)) throw cause
        if (!(await settle(operationId, deadline)).happened) return null
      }
      onAcknowledged(operationId)
      return kept
    })
    return counts.during('transactions', transaction)
  }

  const write: Write = (make, { within = WITHIN_MS } = {}) => {
    const deadline = deadlineIn(within)
    const writing = persist(deadline, async () => {
      const operationId = newOperationId()
      try {
        const value = await withConnection({ deadline, isUrgent: false }, (connection) =>
          attemptStatement({
            connection,
            patience: { answer: ANSWER_MS, end: deadline },
            work: make(operationId),
          }),
        )
        onAcknowledged(operationId)
        return { value }
      } catch (cause) {
        if (!(cause instanceof UnknownOutcome)) throw cause
        const { happened, result } = await settle(operationId, deadline)
        if (!happened) return null
        onAcknowledged(operationId)
        return { value: result }
      }
    })
    return counts.during('transactions', writing)
  }

  const count = () => ({ ...counts.read(), connections: connections.count() })
  const { renew } = connections
  const close = async () => connections.close()
  return { read, transact, write, count, isFull: fullness.isFull, renew, followFailover, close }
}

/** Work that may take longer than a request may also wait as long for one answer. */
function patienceOf(within: number, end: Deadline): Patience {
  return { answer: within > WITHIN_MS ? within : ANSWER_MS, end }
}

async function run<T>(
  connection: Connection,
  work: (session: Session) => Promise<T>,
  patience: Patience,
): Promise<T> {
  try {
    return await connection.run(work, patience)
  } catch (cause) {
    if (endsConnection(cause)) connection.lose()
    throw cause
  }
}
