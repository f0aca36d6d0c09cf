// Corrects the dates of pushes that were made while the clock was ahead. After it was set back they would live too long.

import type { Clock } from '../../../domain/clock.ts'
import { isFromAhead, setBack } from '../../../domain/push.ts'
import type { Connection } from '../engine/database.ts'
import { prepareFind, prepareUpdate } from '../engine/prepared.ts'
import { pushes } from '../engine/schema.ts'
import { checksumOfPush, isIntactPush, type PushRow } from './push-checksum.ts'

const PIECE = 500

export type DoubtedDates = {
  /**
   * Within a transaction: moves the dates of pushes that were made more than a day in the future back by as much as the clock
   * was ahead. Handles some pushes with ids below `before`, the latest first. Returns the next `before`; null when done.
   */
  setBackSome(before: number): number | null
}

export function createDoubtedDates(
  { database }: Connection,
  clock: Pick<Clock, 'now' | 'doubt' | 'wasAhead'>,
): DoubtedDates {
  const latest = database.prepare<{ id: number; createdAt: number }, { before: number }>(
    `SELECT id, created_at AS createdAt FROM pushes WHERE id < $before ORDER BY id DESC LIMIT ${PIECE}`,
  )
  const findById = prepareFind(database, pushes, 'id')
  const update = prepareUpdate(database, pushes, ['createdAt', 'updatedAt', 'expiresAt', 'checksum'])

  function setBackSome(before: number): number | null {
    if (clock.doubt() !== null) return null
    const now = clock.now()
    const some = latest.all({ before })
    const early = some.filter((push) => isFromAhead(push, now))
    for (const { id } of early) {
      const push = findById(id)
      if (push !== undefined && isIntactPush(push)) write(setBack(push, { ahead: clock.wasAhead(), now }))
    }
    // Such pushes follow one another, so a piece without one ends the search.
    return early.length === 0 || some.length < PIECE ? null : (some.at(-1)?.id ?? null)
  }

  function write(moved: PushRow): void {
    update({ ...moved, checksum: checksumOfPush(moved) })
  }

  return { setBackSome }
}
