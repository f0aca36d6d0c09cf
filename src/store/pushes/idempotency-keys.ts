// Used idempotency keys and their sealed answers. When a push ends, its answer is destroyed; the key stays
// marked as used until it expires.

import { conflict } from '../../domain/errors.ts'
import type { KeyToStore } from '../pushes-contract.ts'
import { forSome, insertUnlessThere, locked, select, statement } from '../statements.ts'
import { all, first, LAST_ID, type Parts, run, type Step } from '../steps.ts'
import { idempotencyAnswers, idempotencyKeys } from '../tables.ts'
import { createSlots } from './slots.ts'

const SOME = 100

const FIND = select(idempotencyKeys, 'WHERE lookup = $1')
const LOCK = locked(FIND)
const LOCK_OF_PUSH = locked(select(idempotencyKeys, 'WHERE push_id = $1'))
const LOCK_OF_PUSHES = forSome((ids) =>
  locked(select(idempotencyKeys, `WHERE push_id IN (${ids}) ORDER BY lookup`)),
)
const LAPSED = locked(
  select(idempotencyKeys, `WHERE lapses_at <= $1 ORDER BY lapses_at LIMIT ${SOME}`),
  'FOR UPDATE SKIP LOCKED',
)
const ANSWER = select(idempotencyAnswers, 'WHERE slot = $1')
/** `added` follows the insert of a slot, and names it. */
const insert = {
  found: insertUnlessThere(idempotencyKeys),
  added: insertUnlessThere(idempotencyKeys, { slot: LAST_ID }),
}
const FORGET = statement('UPDATE idempotency_keys SET push_id = NULL, slot = NULL WHERE lookup = $1')
const REMOVE = statement('DELETE FROM idempotency_keys WHERE lookup = $1')

const answers = createSlots({ table: 'idempotency_answers', column: 'answer', bytes: 88 })

const USED = 'This Idempotency-Key has just been used.'

type Used = { lookup: Uint8Array; slot: number | null }

export function createIdempotencyKeys({ steps, now, trusted }: Pick<Parts, 'steps' | 'now' | 'trusted'>) {
  function* find(lookup: Uint8Array): Step<{ answer: Uint8Array | null } | null> {
    const key = yield* first(FIND, lookup)
    if (key === null || key.lapsesAt <= now()) return null
    const found = key.slot === null ? null : yield* first(ANSWER, key.slot)
    // Check the slot again: the push may have ended since, and another answer may be in the slot.
    const isKept = found !== null && (yield* first(FIND, lookup))?.slot === key.slot
    return { answer: isKept ? found.answer : null }
  }

  function* removeLapsed(): Step<number> {
    const until = trusted()
    const some = until === null ? [] : yield* all(LAPSED, until)
    for (const key of some) yield* remove(key)
    return some.length
  }

  return {
    /** Returns null for a key that was not used or has expired. A null `answer`: its push has ended. */
    // Wait for the disk only if the key is used, so that the answer is as durable as the first one. A new key
    // reports no end.
    findKey: (lookup: Uint8Array) =>
      steps.read(
        () => find(lookup),
        (found) => found === null,
      ),
    /** Removes some lapsed keys and resolves to their number. */
    removeLapsed: () => steps.write(removeLapsed),
  }
}

/** Returns the number of the instance key that sealed the value; 0 if it is not sealed. */
export function keyNumberOf(sealed: Uint8Array): number {
  return sealed[1] ?? 0
}

/** Throws `conflict` for a key that was used meanwhile. */
export function* useKey(
  { lookup, lapsesAt, answer }: KeyToStore,
  { pushId, now }: { pushId: number; now: number },
): Step<void> {
  const before = yield* first(LOCK, lookup)
  if (before !== null && before.lapsesAt > now) throw conflict(USED)
  if (before !== null) yield* remove(before)
  const found = yield* answers.find()
  yield* answers.store(found, answer)
  const used = { lookup, keyNumber: keyNumberOf(answer), lapsesAt, pushId, slot: found?.slot ?? null }
  const add = found === null ? insert.added : insert.found
  if ((yield* add(used)) === null) throw conflict(USED)
}

/**
 * Locks the idempotency keys of several pushes in a fixed order, after their shares, so that steps that end
 * pushes cannot deadlock.
 */
export function* lockKeys(pushIds: readonly number[]): Step<void> {
  yield* LOCK_OF_PUSHES(pushIds)
}

/** Locks the idempotency key of an ended push and returns it, for `forgetAnswer`. */
export const lockingKey = (pushId: number) => first(LOCK_OF_PUSH, pushId)

export function* forgetAnswer(key: Used): Step<void> {
  yield* run(FORGET, key.lookup)
  yield* destroyAnswer(key)
}

function* remove(key: Used): Step<void> {
  yield* run(REMOVE, key.lookup)
  yield* destroyAnswer(key)
}

function* destroyAnswer({ slot }: Used): Step<void> {
  if (slot !== null) yield* answers.destroy(slot)
}
