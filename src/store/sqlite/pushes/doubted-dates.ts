// The dates of pushes that were made by a clock in doubt: once it is set back they would live for as much longer.

import type { Clock } from '../../../domain/clock.ts'
import { DAY } from '../../../domain/time.ts'
import type { Connection } from '../engine/database.ts'
import { prepareFind, prepareUpdate } from '../engine/prepared.ts'
import { pushes } from '../engine/schema.ts'
import { checksumOfPush, isIntactPush, type PushRow } from './push-checksum.ts'

const PIECE = 500

export type DoubtedDates = {
  /**
   * Within a transaction: moves the dates of pushes that were made more than a day later than now, as far as the clock was
   * ahead. Looks at some of those below `before`, the latest first. Returns where to go on; null when that was all.
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
    const early = some.filter(({ createdAt }) => createdAt > now + DAY)
    for (const { id } of early) {
      const push = findById(id)
      if (push !== undefined && isIntactPush(push)) setBack(push, now)
    }
    // They were made one after another, so the first piece without one ends them.
    return early.length === 0 || some.length < PIECE ? null : (some.at(-1)?.id ?? null)
  }

  function setBack(push: PushRow, now: number): void {
    const by = Math.max(clock.wasAhead(), push.createdAt - now)
    const createdAt = push.createdAt - by
    const moved = { ...push, createdAt, updatedAt: now, expiresAt: push.expiresAt - by }
    update({ ...moved, checksum: checksumOfPush(moved) })
  }

  return { setBackSome }
}
