// Removes what nodes share once it has lapsed.

import type { Trusted } from '../../../domain/clock.ts'
import { HOUR } from '../../../domain/time.ts'
import type { Transact } from '../engine/database.ts'

/** Rows that one transaction removes, so that it is short. Rows that another node works on are left to it. */
const STEP = 1_000
/** Longer than the clocks of nodes can differ. */
const MARGIN = HOUR

const LAPSING = [
  { table: 'spent_points', key: 'name', end: 'until' },
  { table: 'used_nonces', key: 'nonce', end: 'lapses_at' },
  { table: 'leases', key: 'name', end: 'until' },
  { table: 'two_factor_offers', key: 'session_id', end: 'until' },
] as const

export type LapsedRowsOptions = {
  transact: Transact
  trusted: Trusted
  /** Whether to stop after the step under way. */
  isStopped: () => boolean
}

/** Returns a function that resolves to the number of rows that it removed. */
export function createLapsedSweep({
  transact,
  trusted,
  isStopped,
}: LapsedRowsOptions): () => Promise<number> {
  async function removeSome({ table, key, end }: (typeof LAPSING)[number]): Promise<number> {
    const until = trusted()
    if (until === null) return 0
    const lapsed = `SELECT ${key} FROM ${table} WHERE ${end} <= $1 ORDER BY ${end} LIMIT ${STEP} FOR UPDATE SKIP LOCKED`
    const text = `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(${lapsed})) RETURNING 1 AS removed`
    return (await transact((session) => session.query(text, [until - MARGIN]))).length
  }

  return async () => {
    let removed = 0
    for (const of of LAPSING) {
      for (let some = STEP; some === STEP && !isStopped(); ) {
        some = await removeSome(of)
        removed += some
      }
    }
    return removed
  }
}
