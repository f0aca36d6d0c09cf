// Corrects the dates of pushes that were made while the clock was ahead. After it was set back they would live too long.

import type { Clock } from '../../../domain/clock.ts'
import { isFromAhead, setBack } from '../../../domain/push.ts'
import type { Session, Transact } from '../engine/database.ts'
import { lockPushes } from '../pushes/push-rows.ts'
import { arraysOf } from '../schema/rows.ts'

const PIECE = 500

export type DoubtedDates = {
  /**
   * Once after each doubt: moves the dates of pushes that were made more than a day in the future back by as much as the clock
   * was ahead.
   */
  mend(): Promise<void>
}

export type DoubtedDatesOptions = {
  transact: Transact
  clock: Pick<Clock, 'now' | 'doubt' | 'wasAhead'>
}

export function createDoubtedDates({ transact, clock }: DoubtedDatesOptions): DoubtedDates {
  let mended = 0

  async function mend(): Promise<void> {
    const ahead = clock.wasAhead()
    if (ahead === mended || clock.doubt() !== null) return
    let before: number | null = Number.MAX_SAFE_INTEGER
    while (before !== null) before = await transact(pieceBefore(before, ahead))
    mended = ahead
  }

  const pieceBefore = (before: number, ahead: number) => (session: Session) =>
    setBackSome(session, { before, ahead, now: clock.now() })

  return { mend }
}

type Piece = { before: number; ahead: number; now: number }

const LATEST = `SELECT id::float8 AS id, created_at::float8 AS "createdAt" FROM pushes
  WHERE id < $1::bigint ORDER BY id DESC LIMIT ${PIECE}`
const SET_BACK = `UPDATE pushes SET version = version + 1, created_at = given.created_at, updated_at = $4::bigint,
    expires_at = given.expires_at
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS given(id, created_at, expires_at) WHERE pushes.id = given.id`

/**
 * Returns where the next piece begins; null after the last. Pushes that were made while the clock was ahead have neighbouring ids,
 * so the search ends at a piece without one.
 */
async function setBackSome(session: Session, { before, ahead, now }: Piece): Promise<number | null> {
  const some = await session.query<{ id: number; createdAt: number }>(LATEST, [before])
  const early = some.filter((push) => isFromAhead(push, now)).map(({ id }) => id)
  if (early.length === 0) return null
  // Another node may have moved them in the meantime.
  const locked = (await lockPushes(session, early)).filter((push) => isFromAhead(push, now))
  const moved = locked.map((push) => setBack(push, { ahead, now }))
  await session.query(SET_BACK, [...arraysOf(moved, ['id', 'createdAt', 'expiresAt']), now])
  return some.length < PIECE ? null : (some.at(-1)?.id ?? null)
}
