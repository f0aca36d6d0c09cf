// A push as the services see it, from its row. PostgreSQL keeps no checksums of rows, so what no push can have is damage.

import { DamageError } from '../../../domain/errors.ts'
import { DAY } from '../../../domain/time.ts'
import type { StoredPush } from '../../face.ts'
import type { RowOf } from '../schema/rows.ts'
import type { pushes } from '../schema/schema.ts'

export type PushRow = RowOf<typeof pushes>

/** The last millisecond of the year 9999. No later one has a place in an answer. */
export const LAST_TIME = Date.UTC(10_000, 0) - 1

/** Without what only the engine counts. Throws DamageError. */
export function presentPush(row: PushRow): StoredPush {
  const { version, entries, ...push } = requireIntact(row)
  return push
}

/** Throws DamageError for a row with a time that is none. */
export function requireIntact(row: PushRow): PushRow {
  if (!isIntact(row)) throw new DamageError(`push ${row.id}`, 'server')
  return row
}

function isIntact(row: PushRow): boolean {
  const { createdAt, updatedAt, expiresAt, expiredOn, lastViewedAt, wrongTriesSince } = row
  return (
    isTime(createdAt) &&
    isTime(updatedAt) &&
    isTime(expiresAt) &&
    (expiredOn === null || isTime(expiredOn)) &&
    isTime(lastViewedAt) &&
    isTime(wrongTriesSince)
  )
}

const isTime = (time: number): boolean => time >= 0 && time <= LAST_TIME

/**
 * The row with `now` for each time that is none, so that the push can be ended. Its end is then ahead, unless it `hasLapsed`. An
 * intact row stays the same.
 */
export function mend(row: PushRow, { now, hasLapsed }: { now: number; hasLapsed: boolean }): PushRow {
  if (isIntact(row)) return row
  const orNow = (time: number) => (isTime(time) ? time : now)
  return {
    ...row,
    createdAt: orNow(row.createdAt),
    updatedAt: orNow(row.updatedAt),
    expiresAt: isTime(row.expiresAt) ? row.expiresAt : hasLapsed ? now : now + DAY,
    expiredOn: row.expiredOn === null ? null : orNow(row.expiredOn),
    lastViewedAt: orNow(row.lastViewedAt),
    wrongTriesSince: orNow(row.wrongTriesSince),
  }
}
