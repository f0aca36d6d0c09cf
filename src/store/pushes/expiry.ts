// How pushes end and are removed, in small steps: those whose time is up are recorded as expired, those that
// expired long ago are purged, those of a removed account are removed or become anonymous, and those of a
// restored database are lost.

import type { Visit } from '../../domain/audit.ts'
import { decideLapse, decideLoss, forward } from '../../domain/visits.ts'
import type { StoredPush } from '../pushes-contract.ts'
import { statement } from '../statements.ts'
import { all, first, isThere, type Parts, run, type Step, type Steps } from '../steps.ts'
import { shortenLog } from './audit-log.ts'
import { lockPushes } from './push-locks.ts'
import { removePush, write as writeChange } from './push-rows.ts'

/** The maximum number of pushes that one step ends or removes. */
const SOME = 100
/** The time in milliseconds after which a step begins no other push, because large contents take longer. */
const STEP_MS = 20
/** Entries of the logs that one step deletes. */
const MOST_ENTRIES = 2_000
/** The batch size for databases that no node serves. */
const MANY = 500

const LIVE = 'expired_on IS NULL'
const ENDED = 'expired_on IS NOT NULL'

const NEXT_LAPSE = statement<{ at: number }>(
  `SELECT expires_at AS at FROM pushes WHERE ${LIVE} ORDER BY expires_at, id LIMIT 1`,
)
const listLapsed = idsOf(`WHERE ${LIVE} AND expires_at <= $1 ORDER BY expires_at, id LIMIT ${SOME}`)
const listLapsedOf = idsOf(`WHERE owner_id = $2 AND ${LIVE} AND expires_at <= $1 ORDER BY id LIMIT ${SOME}`)
const listLive = idsOf(`WHERE ${LIVE} ORDER BY expires_at, id LIMIT ${MANY}`)
const purgeable = (whose: string) =>
  idsOf(`WHERE ${ENDED} AND ${whose} AND expired_on <= $1 ORDER BY expired_on LIMIT ${SOME}`)
const listPurgeable = { anonymous: purgeable('owner_id IS NULL'), owned: purgeable('owner_id IS NOT NULL') }
// Use separate statements for live and ended pushes, so that both engines use an index.
const listOwned = [LIVE, ENDED].map((which) =>
  idsOf(`WHERE owner_id = $1 AND ${which} ORDER BY id LIMIT ${SOME}`),
)
const DISOWN = [LIVE, ENDED].flatMap((which) => [
  statement(
    `DELETE FROM push_labels WHERE push_id IN (SELECT id FROM pushes WHERE owner_id = $1 AND ${which})`,
  ),
  statement(`UPDATE pushes SET owner_id = NULL, is_new = FALSE WHERE owner_id = $1 AND ${which}`),
])

/** Expiry by time adds no entry to a log. */
const NO_ENTRIES = { hasRoom: true }

export function createExpiry({ steps: { read, write }, trusted }: Pick<Parts, 'steps' | 'trusted'>) {
  /** Returns when the time of the next live push is up, which may be in the past; null if none is live. */
  const findNextLapse = async () => (await read(() => first(NEXT_LAPSE), isThere))?.at ?? null

  /**
   * Ends those of the pushes whose time is up. `skips`: leaves out pushes that another transaction has
   * locked.
   */
  function* end(ids: readonly number[], { at, skips }: { at: number; skips: boolean }): Step<StoredPush[]> {
    const until = performance.now() + STEP_MS
    const ended: StoredPush[] = []
    for (const push of yield* lockPushes(ids, { skips })) {
      if (ended.length > 0 && performance.now() > until) break
      const time = forward(push, at)
      if (push.expiredOn !== null || push.expiresAt > time) continue
      ended.push(yield* writeChange(push, decideLapse(push, time), NO_ENTRIES))
    }
    return ended
  }

  /** Writes the expiry by time of some pushes, adds them to `told`, and resolves to their number. */
  async function expireLapsed(told: StoredPush[] = []): Promise<number> {
    const at = trusted()
    if (at === null) return 0
    const ended = await write(function* () {
      return yield* end(yield* listLapsed(at), { at, skips: true })
    })
    told.push(...ended)
    return ended.length
  }

  /**
   * Records the expiry by time of all pushes of one owner, however many others are due, and adds them to
   * `told`. Reads the owner's live pushes only if some push of the instance is due, which is rare.
   */
  async function expireLapsedOf(ownerId: number, told: StoredPush[] = []): Promise<void> {
    for (let done = 1; done > 0; ) {
      const [next, at] = [await findNextLapse(), trusted()]
      if (next === null || at === null || next > at) return
      const ended = await write(function* () {
        return yield* end(yield* listLapsedOf(at, ownerId), { at, skips: false })
      })
      told.push(...ended)
      done = ended.length
    }
  }

  return {
    findNextLapse,
    expireLapsed,
    expireLapsedOf,
    /** Removes all trace of some pushes that expired at `until` or before, and resolves to their number. */
    purgeExpired: ({ of, until }: { of: 'anonymous' | 'owned'; until: number }) =>
      untilRemoved(write, function* () {
        return yield* remove(yield* listPurgeable[of](until), { at: until, skips: true })
      }),
  }
}

/** Removes some pushes of an account, and returns their number, 0 when none is left. */
export function removeSomeOf(ownerId: number, { write, at }: Pick<Steps, 'write'> & { at: number }) {
  return untilRemoved(write, function* () {
    const ids = []
    for (const list of listOwned) ids.push(...(yield* list(ownerId)))
    return yield* remove(ids, { at, skips: false })
  })
}

/** Repeats a step while it only shortens a log. */
async function untilRemoved(write: Steps['write'], step: () => Step<number | null>): Promise<number> {
  for (;;) {
    const removed = await write(step)
    if (removed !== null) return removed
  }
}

/** Makes all pushes of the account anonymous, and deletes their labels. */
export function* disown(ownerId: number): Step<void> {
  for (const statement of DISOWN) yield* run(statement, ownerId)
}

/**
 * Removes as many of these pushes as one step has time for, and returns their number; null when it only
 * shortened a long log.
 */
function* remove(ids: readonly number[], { at, skips }: { at: number; skips: boolean }): Step<number | null> {
  const until = performance.now() + STEP_MS
  let [removed, entries] = [0, 0]
  for (const push of yield* lockPushes(ids, { skips })) {
    entries += push.auditEntries
    if (removed > 0 && (entries > MOST_ENTRIES || performance.now() > until)) break
    if (yield* shortenLog(push)) return null
    yield* removePush(push, at)
    removed += 1
  }
  return removed
}

/**
 * Expires some pushes of a restored database as lost; `found` is 0 after the last.
 */
export function* loseSome({
  now,
  visit,
}: {
  now: number
  visit: Visit
}): Step<{ found: number; lost: number }> {
  const pushes = yield* lockPushes(yield* listLive())
  let lost = 0
  for (const push of pushes) {
    const after = yield* writeChange(push, decideLoss(push, visit, now), { hasRoom: true })
    if (after.lost) lost += 1
  }
  return { found: pushes.length, lost }
}

/** A statement that returns ids of pushes; `rest` is what follows FROM. */
function idsOf(rest: string): (...values: number[]) => Step<number[]> {
  const found = statement<{ id: number }>(`SELECT id FROM pushes ${rest}`)
  return function* (...values) {
    return (yield* all(found, ...values)).map(({ id }) => id)
  }
}
