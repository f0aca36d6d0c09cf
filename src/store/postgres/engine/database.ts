// Reads and transactions over PostgreSQL. Those that meet a conflict or lose their connection run again, a
// few times.
//
// When the connection is lost after COMMIT was sent, the outcome is unknown: the transaction does not run
// again, and the caller gets an error in doubt.

import { randomKey } from '../../../crypto/random.ts'
import { addToOutage } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'
import type { DatabaseCounts } from '../../database-contract.ts'
import { DISK_FULL, endsConnection, explainFailure, isPassing, stateOf, unavailable } from './failures.ts'
import { createLanes, type Lane, type LaneTimeouts, type OnState } from './lanes.ts'
import { ANSWER_MS, type Connect, type PostgresSession } from './session.ts'

export type { OnState } from './lanes.ts'

/** `within`: the timeout in milliseconds, for transactions that may take longer than a request. */
type TransactionOptions = { within?: number }

/** Runs work that only reads, outside any transaction. It may run again, on another connection. */
export type RunRead = <T>(
  work: (session: PostgresSession) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>

/**
 * A session within a transaction. `send` does not wait for the rows of its statement, and must be followed by
 * the commit.
 */
export type PostgresTransaction = PostgresSession & { send(text: string, values: readonly unknown[]): void }

/**
 * Runs `work` in one transaction (READ COMMITTED), and resolves once it is durable. May run it several times,
 * so it must have no effects outside the database. Throws `overloaded` if nothing happened or the outcome is
 * unknown, and `disk_full`.
 */
type RunTransaction = <T>(
  work: (session: PostgresTransaction) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>

export type PostgresDatabase = {
  read: RunRead
  transact: RunTransaction
  count(): DatabaseCounts
  /** Whether the server has recently refused changes because its disk is full. */
  isFull(): boolean
  close(): Promise<void>
}

export type DatabaseOptions = {
  connect: Connect
  /** The maximum number of connections. */
  connections?: number | undefined
  onState?: OnState | undefined
  /** Called if the server's disk becomes full. */
  onFull?: () => void
  /** Runs on each new connection before its first use. */
  onConnect?: (session: PostgresSession) => Promise<void>
}

const CONNECTIONS = 8
/** The timeout of a transaction, so that a request is answered within 10 s. */
const WITHIN_MS = 6000
/** The timeout of a read, which is shorter because more work mostly follows. */
const READ_WITHIN_MS = 5000
/** The number of further attempts after the first one. */
const RETRIES = 5
const FIRST_PAUSE_MS = 10
const FULL_MS = 5 * MINUTE

export function createDatabase(options: DatabaseOptions): PostgresDatabase {
  const { connect, connections: max = CONNECTIONS, onConnect = async () => undefined } = options
  const { onState = () => undefined, onFull = () => undefined } = options
  const lanes = createLanes({ connect, max, onConnect, onState })
  const counts = { reads: 0, transactions: 0, failures: 0, retries: 0, unknownOutcomes: 0, seconds: 0 }
  let fullAt = Number.NEGATIVE_INFINITY

  const isFull = () => performance.now() - fullAt < FULL_MS

  /** Retries work after transient failures. */
  async function persist<T>(within: number, attempt: (patience: LaneTimeouts) => Promise<T>): Promise<T> {
    // A transaction with a longer timeout may also spend all of it on one connection.
    const once = within > WITHIN_MS ? within : ANSWER_MS
    const end = performance.now() + within
    for (let tries = 0; ; tries += 1) {
      let cause: unknown = null
      try {
        return await attempt({ end, once })
      } catch (failure) {
        cause = failure
        if (!isPassing(failure)) throw explain(failure)
      }
      if (tries === RETRIES || performance.now() > end) throw unavailable(cause)
      counts.retries += 1
      await Bun.sleep(pauseAfter(tries))
    }
  }

  function explain(failure: unknown): unknown {
    if (stateOf(failure) === DISK_FULL) {
      if (!isFull()) onFull()
      fullAt = performance.now()
    }
    return explainFailure(failure)
  }

  const read: RunRead = (work, { within = READ_WITHIN_MS } = {}) =>
    during('reads', () => persist(within, (patience) => lanes.use(patience, work)))

  const transact: RunTransaction = (work, { within = WITHIN_MS } = {}) =>
    during('transactions', () =>
      persist(within, async (patience) => {
        const progress = { isCommitSent: false }
        try {
          return await lanes.use(patience, (lane) => attempt(lane, progress, { within, work }))
        } catch (cause) {
          if (!progress.isCommitSent || !endsConnection(cause)) throw cause
          counts.unknownOutcomes += 1
          throw addToOutage(unavailable(cause), { isInDoubt: true })
        }
      }),
    )

  /** Counts finished work, and the time of successful work. */
  async function during<T>(kind: 'reads' | 'transactions', work: () => Promise<T>): Promise<T> {
    const begun = performance.now()
    try {
      const value = await work()
      counts[kind] += 1
      counts.seconds += (performance.now() - begun) / 1000
      return value
    } catch (cause) {
      counts.failures += 1
      throw cause
    }
  }

  return {
    read,
    transact,
    count: () => ({ ...counts, connections: lanes.count() }),
    isFull,
    close: async () => lanes.close(),
  }
}

/** Returns a pause with jitter, so that two nodes do not meet in the same conflict again. */
function pauseAfter(tries: number): number {
  return FIRST_PAUSE_MS * 2 ** (tries + 1) * (1 + randomKey(1).readUInt8() / 256)
}

/**
 * Sends BEGIN with the first statement, and COMMIT with the last ones. Sets `isCommitSent`: from then on a
 * lost connection leaves the outcome unknown. Work that changes nothing ends with ROLLBACK, because a commit
 * would wait for the disk only to release its locks.
 */
async function attempt<T>(
  lane: Lane,
  progress: { isCommitSent: boolean },
  { within, work }: { within: number; work: (session: PostgresTransaction) => Promise<T> },
): Promise<T> {
  const sent: Promise<unknown>[] = []
  let hasChanged = false
  const keep = (answered: Promise<unknown>) => {
    // Awaited below. An earlier rejection must not count as unhandled.
    answered.catch(() => undefined)
    sent.push(answered)
  }
  const query: PostgresTransaction['query'] = (text, values) => {
    hasChanged ||= !text.startsWith('SELECT ')
    return lane.query(text, values)
  }
  const send: PostgresTransaction['send'] = (text, values) => keep(query(text, values))
  try {
    const begun = lane.control('BEGIN')
    keep(begun)
    if (within > WITHIN_MS) send(BE_PATIENT, [String(within)])
    const value = await work({ query, send })
    // Wait for BEGIN first: if the connection was dead already, nothing is in doubt.
    await begun
    progress.isCommitSent = hasChanged
    const end = hasChanged ? 'COMMIT' : 'ROLLBACK'
    const [tag] = await Promise.all([lane.control(end), ...sent])
    if (tag !== end) throw new Error('a transaction continued after an error, and was rolled back')
    return value
  } catch (failure) {
    // Take the first failure: the statements behind it only report that the transaction is aborted.
    const answers = await Promise.allSettled(sent)
    const failed = answers.find((answer) => answer.status === 'rejected')
    const cause = failed?.reason ?? failure
    if (!progress.isCommitSent && !endsConnection(cause)) await lane.control('ROLLBACK')
    // PostgreSQL refused a statement that precedes COMMIT, so nothing was committed.
    if (failed !== undefined && stateOf(failed.reason) !== '') progress.isCommitSent = false
    throw cause
  }
}

const BE_PATIENT = `SELECT set_config(name, $1, true)
  FROM unnest(ARRAY['statement_timeout', 'idle_in_transaction_session_timeout']) AS name`
