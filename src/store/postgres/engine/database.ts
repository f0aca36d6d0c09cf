// Reads and transactions over PostgreSQL. Those that meet a conflict or lose their connection run again, a
// few times.
//
// When the connection is lost after COMMIT was sent, nobody knows whether the change happened. Each
// transaction notes a random mark in the row of its connection, so another connection looks there once. It
// waits for a commit still under way.

import { randomKey } from '../../../crypto/random.ts'
import { addToOutage } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'
import type { DatabaseCounts } from '../../database-contract.ts'
import { DISK_FULL, endsConnection, explainFailure, isPassing, stateOf, unavailable } from './failures.ts'
import { createLanes, type Lane, type OnState, type Patience } from './lanes.ts'
import { ANSWER_MS, type Connect, type Session } from './session.ts'

export type { OnState } from './lanes.ts'

/** `within`: milliseconds for the whole, for work that may take longer than a request. */
export type WorkOptions = { within?: number }

/** Runs work that only reads, outside any transaction. It may run again, on another connection. */
export type Read = <T>(work: (session: Session) => Promise<T>, options?: WorkOptions) => Promise<T>

/**
 * Within a transaction: `send` is for statements for whose rows nobody waits. The commit follows them at
 * once.
 */
export type Changing = Session & { send(text: string, values: readonly unknown[]): void }

/**
 * Runs work in one transaction (READ COMMITTED), and resolves once it is durable. The work may run several
 * times, so it has no effects outside the database. Throws `overloaded` when nothing happened, or when it
 * cannot be known, and `disk_full`.
 */
export type Transact = <T>(work: (session: Changing) => Promise<T>, options?: WorkOptions) => Promise<T>

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
  /** Called when the disk of the server begins to be full. */
  onFull?: () => void
  /** Runs on each new connection before its first use. */
  onConnect?: (session: Session) => Promise<void>
}

const CONNECTIONS = 8
/**
 * A request is answered within 10 s; this is the part that a transaction may take, before anybody looks for a
 * lost commit.
 */
const WITHIN_MS = 6000
/** Reads are mostly followed by something that also takes its time. */
const READ_WITHIN_MS = 5000
const LOOK_WITHIN_MS = 2000
/** Further attempts after the first one. */
const RETRIES = 5
const FIRST_PAUSE_MS = 10
const FULL_MS = 5 * MINUTE
const MARK_BYTES = 16

/** A change as another connection can look for it. `done`: its result, once COMMIT was sent. */
type Change<T> = { connection: Uint8Array; mark: Uint8Array; done: { value: T } | null }

const newChange = () => ({ connection: new Uint8Array(), mark: randomKey(MARK_BYTES) })

export function createDatabase(options: DatabaseOptions): PostgresDatabase {
  const { connect, connections: max = CONNECTIONS, onConnect = async () => undefined } = options
  const { onState = () => undefined, onFull = () => undefined } = options
  const lanes = createLanes({ connect, max, onConnect, onState })
  const counts = { reads: 0, transactions: 0, failures: 0, retries: 0, seconds: 0 }
  const settled = { happened: 0, void: 0, unknown: 0 }
  let fullAt = Number.NEGATIVE_INFINITY

  const isFull = () => performance.now() - fullAt < FULL_MS

  /** Tries again what failed in passing, and what returns null because nothing happened. */
  async function persist<T>(
    within: number,
    attempt: (patience: Patience) => Promise<{ value: T } | null>,
  ): Promise<T> {
    // Work that may take longer than a request may also take as long on one connection.
    const once = within > WITHIN_MS ? within : ANSWER_MS
    const end = performance.now() + within
    for (let tries = 0; ; tries += 1) {
      let cause: unknown = null
      try {
        const done = await attempt({ end, once })
        if (done !== null) return done.value
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

  const read: Read = (work, { within = READ_WITHIN_MS } = {}) =>
    during('reads', () => persist(within, async (patience) => ({ value: await lanes.use(patience, work) })))

  const transact: Transact = (work, { within = WITHIN_MS } = {}) =>
    during('transactions', () =>
      persist(within, async (patience) => {
        const change: Change<Awaited<ReturnType<typeof work>>> = { ...newChange(), done: null }
        try {
          return await lanes.use(patience, (lane) => attempt(lane, change, { within, work }))
        } catch (cause) {
          if (change.done === null || !endsConnection(cause)) throw cause
          return (await hasHappened(change)) ? change.done : null
        }
      }),
    )

  /** Throws an error in doubt when that stays unknown. Then the caller is told nothing that depends on it. */
  async function hasHappened(change: Change<unknown>): Promise<boolean> {
    const looking = async (patience: Patience) => ({
      value: await lanes.use(patience, (lane) => look(lane, change)),
    })
    const outcome = await persist(LOOK_WITHIN_MS, looking).catch((cause) => {
      settled.unknown += 1
      throw addToOutage(cause, { isInDoubt: true })
    })
    settled[outcome ? 'happened' : 'void'] += 1
    return outcome
  }

  /** Counts work when it ends, and how long it took when it succeeded. */
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
    count: () => ({ ...counts, settled: { ...settled }, connections: lanes.count() }),
    isFull,
    close: async () => lanes.close(),
  }
}

/** Random within a factor of two, so that two nodes do not meet again after the same conflict. */
function pauseAfter(tries: number): number {
  return FIRST_PAUSE_MS * 2 ** (tries + 1) * (1 + randomKey(1).readUInt8() / 256)
}

/**
 * BEGIN and the mark are sent with the first statement of the work, COMMIT with its last ones. Notes in
 * `change` that COMMIT was sent: after that a lost connection says nothing about the outcome.
 */
async function attempt<T>(
  lane: Lane,
  change: Change<T>,
  { within, work }: { within: number; work: (session: Changing) => Promise<T> },
): Promise<{ value: T }> {
  const sent: Promise<unknown>[] = []
  const keep = (answered: Promise<unknown>) => {
    // It is awaited below. A rejection before that must not count as unhandled.
    answered.catch(() => undefined)
    sent.push(answered)
  }
  const send: Changing['send'] = (text, values) => keep(lane.query(text, values))
  try {
    change.connection = lane.id
    keep(lane.control('BEGIN'))
    if (within > WITHIN_MS) send(BE_PATIENT, [String(within)])
    send(NOTE, [change.connection, change.mark])
    const begun = [...sent]
    const done = { value: await work({ query: lane.query, send }) }
    // Who looks for the change waits for the lock of its row, so that must be held before COMMIT is sent.
    await Promise.all(begun)
    change.done = done
    const [tag] = await Promise.all([lane.control('COMMIT'), ...sent])
    if (tag !== 'COMMIT') throw new Error('a transaction went on after an error, and was rolled back')
    return done
  } catch (failure) {
    // After a failed statement those that follow see only that their transaction is aborted.
    const answers = await Promise.allSettled(sent)
    const failed = answers.find((answer) => answer.status === 'rejected')
    const cause = failed?.reason ?? failure
    if (change.done === null && !endsConnection(cause)) await lane.control('ROLLBACK')
    throw cause
  }
}

const BE_PATIENT = `SELECT set_config(name, $1, true)
  FROM unnest(ARRAY['statement_timeout', 'idle_in_transaction_session_timeout']) AS name`

const NOTE = `INSERT INTO changes (connection, mark, at) VALUES ($1, $2, now())
  ON CONFLICT (connection) DO UPDATE SET mark = EXCLUDED.mark, at = EXCLUDED.at`

/**
 * Waits for a transaction that holds the row, or inserts it. Reading the row would prove nothing about a
 * commit under way.
 */
const LOOK = `INSERT INTO changes (connection, mark, at) VALUES ($1, '', now())
  ON CONFLICT (connection) DO UPDATE SET at = EXCLUDED.at RETURNING mark`

async function look({ query }: Lane, { connection, mark }: Change<unknown>): Promise<boolean> {
  const [row] = await query<{ mark: Uint8Array }>(LOOK, [connection])
  return row !== undefined && Buffer.compare(row.mark, mark) === 0
}

/** For heartbeats: rows of connections that nobody uses any more. */
export const FORGET_CHANGES = "DELETE FROM changes WHERE at < now() - interval '10 minutes'"
