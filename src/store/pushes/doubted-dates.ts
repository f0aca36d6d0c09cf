// Corrects the dates of pushes and messages that were made while the clock was ahead. With the right clock,
// these pushes would live too long, and the messages wait too long.

import type { Clock } from '../../domain/clock.ts'
import { isFromAhead, setBack } from '../../domain/push.ts'
import { setBackMessages } from '../notices/outbox.ts'
import { select, updateOf } from '../statements.ts'
import { all, type Step, type Steps } from '../steps.ts'
import { pushes, pushState } from '../tables.ts'
import { lockPushes } from './push-locks.ts'

const PIECE = 500
const LATEST = select(pushes, `WHERE id < $1 ORDER BY id DESC LIMIT ${PIECE}`)
const updateState = updateOf(pushState, ['updatedAt'])
const updatePush = updateOf(pushes, ['createdAt', 'expiresAt'])

type DoubtedClock = Pick<Clock, 'now' | 'doubt' | 'wasAhead'>

/**
 * Corrects the dates of pushes that were made more than a day in the future, by as much as the clock was
 * ahead.
 */
export async function setBackDates({ write }: Pick<Steps, 'write'>, clock: DoubtedClock): Promise<void> {
  for (let before: number | null = Number.MAX_SAFE_INTEGER; before !== null; ) {
    const from: number = before
    before = await write(() => setBackSome(from, clock))
  }
}

/**
 * Corrects some pushes with ids below `before`, the latest first. Returns the next `before`; null when done.
 * Such pushes have consecutive ids, so the search ends with a piece that has none.
 */
function* setBackSome(before: number, clock: DoubtedClock): Step<number | null> {
  if (clock.doubt() !== null) return null
  const now = clock.now()
  yield* setBackMessages(now)
  const some = yield* all(LATEST, before)
  const early = some.filter((push) => isFromAhead(push, now)).map(({ id }) => id)
  // Check again under the lock: another node may have corrected it.
  for (const push of yield* lockPushes(early))
    if (isFromAhead(push, now)) {
      const moved = setBack(push, { ahead: clock.wasAhead(), now })
      yield* updateState(moved)
      yield* updatePush(moved)
    }
  return early.length === 0 || some.length < PIECE ? null : (some.at(-1)?.id ?? null)
}
