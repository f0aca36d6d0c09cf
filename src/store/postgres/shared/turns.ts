// Turns that nodes take: a lease as a row, held while one of them works. A connection is used only to take it and to give it
// back. The lease of a node that died lapses.

import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { TurnStore } from '../../shared-face.ts'
import type { Read, Session, Transact } from '../engine/database.ts'

export type TurnsOptions = { read: Read; transact: Transact; onError: (cause: unknown) => void }

/** Short, so that a dead node does not keep anybody waiting for long. A node that works for longer renews its lease. */
const LEASE_MS = 5_000
const RENEW_MS = 1_500
/** The longest wait for the turn. */
const WAIT_MS = 6_000
const LOOK_MS = 40
/** How long a node that others wait for leaves the turn to them: longer than they take to notice. */
const YIELD_MS = 100
const HOLDER_BYTES = 16
/** For each look at the lease: the wait and the work take their time as well, and everybody gets an answer within 10 s. */
const WITHIN = { within: 2_000 }

export function createTurnRows({ read, transact, onError }: TurnsOptions): TurnStore {
  /** Names whose turn other nodes have just waited for. */
  const yielded = new Set<string>()

  /**
   * The result is given out only when the lease was held to the end. So nobody is told the outcome of work that another node
   * did not wait for, whatever paused this one.
   */
  async function inTurn<T>(name: string, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const holder = randomKey(HOLDER_BYTES)
    await enter(name, holder)
    const renewal = setInterval(() => void renew(name, holder), RENEW_MS)
    const result = await work(true)
      .catch((cause) => {
        // Nobody waits for it: perhaps the database does not answer.
        void leave(name, holder).catch(onError)
        throw cause
      })
      .finally(() => clearInterval(renewal))
    if (!(await leave(name, holder))) throw busy()
    return result
  }

  async function enter(name: string, holder: Uint8Array): Promise<void> {
    const end = performance.now() + WAIT_MS
    if (yielded.has(name)) await Bun.sleep(YIELD_MS)
    while (!(await transact((session) => take(session, name, holder), WITHIN))) {
      do {
        if (performance.now() > end) throw busy()
        await Bun.sleep(LOOK_MS)
      } while (await read((session) => isAwaited(session, name), WITHIN))
    }
  }

  async function renew(name: string, holder: Uint8Array): Promise<void> {
    const text = `UPDATE leases SET until = ${NOW} + ${LEASE_MS} WHERE name = $1 AND holder = $2`
    // What could not be renewed is noticed at the end of the work.
    await transact((session) => session.query(text, [name, holder]), WITHIN).catch(() => undefined)
  }

  /** False when the lease has been lost. */
  async function leave(name: string, holder: Uint8Array): Promise<boolean> {
    const text = 'DELETE FROM leases WHERE name = $1 AND holder = $2 RETURNING wanted'
    const [left] = await transact(
      (session) => session.query<{ wanted: boolean }>(text, [name, holder]),
      WITHIN,
    )
    if (left?.wanted === true) {
      yielded.add(name)
      setTimeout(() => yielded.delete(name), YIELD_MS).unref()
    }
    return left !== undefined
  }

  return { inTurn }
}

/** By the clock of the database at this moment, because a transaction may have waited for the row. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
/** A lease that ends too far ahead was made by a clock that was set back since. */
const IS_LAPSED = `(leases.until <= ${NOW} OR leases.until > ${NOW} + ${2 * LEASE_MS})`

/** Takes the lease, or notes on it that another node waits. */
async function take(session: Session, name: string, holder: Uint8Array): Promise<boolean> {
  const [row] = await session.query<{ isMine: boolean }>(TAKE, [name, holder])
  return row?.isMine === true
}

const TAKE = `
  INSERT INTO leases (name, holder, until, wanted) VALUES ($1, $2, ${NOW} + ${LEASE_MS}, false)
  ON CONFLICT (name) DO UPDATE SET
    holder = CASE WHEN ${IS_LAPSED} THEN excluded.holder ELSE leases.holder END,
    until = CASE WHEN ${IS_LAPSED} THEN ${NOW} + ${LEASE_MS} ELSE leases.until END,
    wanted = true
  RETURNING holder = $2 AS "isMine"`

/** Whether another node holds the lease, and knows that it is waited for. */
async function isAwaited(session: Session, name: string): Promise<boolean> {
  const text = `SELECT 1 FROM leases WHERE name = $1 AND wanted AND NOT ${IS_LAPSED}`
  return (await session.query(text, [name])).length > 0
}

function busy(): DomainError {
  return new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
}
