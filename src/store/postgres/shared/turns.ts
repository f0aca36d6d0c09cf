// Turns that nodes take: a lease as a row, held while one of them works. A connection is used only to take it and to give it
// back. The lease of a node that died lapses.

import { randomKey } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { TurnStore } from '../../shared-face.ts'
import type { Read } from '../engine/database.ts'

export type TurnsOptions = { read: Read; onError: (cause: unknown) => void }

/** Short, so that the others do not wait long for a dead node. A node that works for longer renews its lease. */
const LEASE_MS = 4_000
const RENEW_MS = 1_200
/** The longest wait for the turn, in the node's own queue and for other nodes. */
const WAIT_MS = 7_000
const LOOK_MS = 15
/** How long a node that others wait for leaves the turn to them: longer than they take to notice. */
const YIELD_MS = 50
const HOLDER_BYTES = 16
/** For each statement. The wait and the work take time as well, and a request is answered within 10 s. */
const WITHIN = { within: 2_000 }

/**
 * Its statements are transactions by themselves that may run again: they name a holder that is drawn for one work. They need
 * not be durable. When a crash of the server forgets a lease, the end of the work notices that; when it forgets the end of a
 * lease, the lease lapses.
 */
export function createTurnRows({ read, onError }: TurnsOptions): TurnStore {
  /** Names whose turn other nodes have just waited for. */
  const yielded = new Set<string>()

  const run = async <Row>(text: string, values: unknown[]): Promise<Row | undefined> => {
    const [row] = await read((session) => session.query<Row>(text, values), WITHIN)
    return row
  }

  /**
   * Returns the result only when the lease was held to the end: otherwise another node may have worked at the same time,
   * whatever paused this one.
   */
  const inTurn: TurnStore['inTurn'] = async ({ name, since }, work) => {
    const lease: Lease = [name, randomKey(HOLDER_BYTES)]
    await enter(lease, since + WAIT_MS)
    // A renewal that fails is ignored: the end of the work notices a lost lease.
    const renewal = setInterval(() => void run(RENEW, lease).catch(() => undefined), RENEW_MS)
    const result = await work(true)
      .catch((cause) => {
        // Not awaited, because the database may not answer.
        void leave(lease).catch(onError)
        throw cause
      })
      .finally(() => clearInterval(renewal))
    if (!(await leave(lease))) throw busy()
    return result
  }

  async function enter(lease: Lease, end: number): Promise<void> {
    const [name] = lease
    if (yielded.has(name)) await Bun.sleep(YIELD_MS)
    while ((await run<{ isMine: boolean }>(TAKE, lease))?.isMine !== true) {
      do {
        if (performance.now() > end) throw busy()
        await Bun.sleep(LOOK_MS)
      } while ((await run(LOOK, [name])) !== undefined)
    }
  }

  /** False when the lease has been lost. */
  async function leave(lease: Lease): Promise<boolean> {
    const [name] = lease
    const left = await run<{ wanted: boolean }>(LEAVE, lease)
    if (left?.wanted === true) {
      yielded.add(name)
      setTimeout(() => yielded.delete(name), YIELD_MS).unref()
    }
    return left !== undefined
  }

  return { inTurn }
}

/** A name, and the holder. */
type Lease = [string, Uint8Array]

/** By the clock of the database at this moment, because a transaction may have waited for the row. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
/** A lease that ends too far ahead was made by a clock that was set back since. */
const IS_LAPSED = `(leases.until <= ${NOW} OR leases.until > ${NOW} + ${2 * LEASE_MS})`

/** In place of a value, for one transaction. */
const NOT_DURABLE = "set_config('synchronous_commit', 'off', true)"

/** Takes the lease, or notes on it that another node waits. */
const TAKE = `
  INSERT INTO leases (name, holder, until, wanted) VALUES ($1, $2, ${NOW} + ${LEASE_MS}, false)
  ON CONFLICT (name) DO UPDATE SET
    holder = CASE WHEN ${IS_LAPSED} THEN excluded.holder ELSE leases.holder END,
    until = CASE WHEN ${IS_LAPSED} THEN ${NOW} + ${LEASE_MS} ELSE leases.until END,
    wanted = leases.holder <> excluded.holder
  RETURNING holder = $2 AS "isMine", ${NOT_DURABLE}`

/** A row when another node holds the lease, and knows that it is waited for. */
const LOOK = `SELECT 1 AS held FROM leases WHERE name = $1 AND wanted AND NOT ${IS_LAPSED}`

const RENEW = `
  UPDATE leases SET until = ${NOW} + ${LEASE_MS} WHERE name = $1 AND holder = $2 RETURNING ${NOT_DURABLE}`

const LEAVE = `DELETE FROM leases WHERE name = $1 AND holder = $2 RETURNING wanted, ${NOT_DURABLE}`

function busy(): DomainError {
  return new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
}
