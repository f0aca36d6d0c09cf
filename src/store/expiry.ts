// What the sweeper does, in small steps: write down expiry by time, and purge what has been expired for long.

import { and, asc, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { lapse } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import { isIntactPush, type PushRows } from './push-rows.ts'
import { pushes } from './schema.ts'

const STEP = 100
/** Rows of the audit log that one purging step deletes at most, unless one push alone has more. */
const AUDIT_STEP = 2_000

export type Expiry = ReturnType<typeof createExpiry>

export function createExpiry(options: {
  connection: Connection
  rows: PushRows
  transact: Transact
  now: Now
}) {
  const { rows, transact, now } = options
  const { orm } = options.connection
  const until = sql.placeholder('until')
  const lapsed = orm
    .select()
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), lte(pushes.expiresAt, until)))
    .orderBy(asc(pushes.expiresAt))
    .limit(STEP)
    .prepare()
  const purgeable = (owner: typeof isNull) =>
    orm
      .select({ id: pushes.id, lastEntry: pushes.lastEntry, auditEntries: pushes.auditEntries })
      .from(pushes)
      .where(and(isNotNull(pushes.expiredOn), owner(pushes.ownerId), lte(pushes.expiredOn, until)))
      .orderBy(asc(pushes.expiredOn))
      .limit(STEP)
      .prepare()
  const purgeableOf = { anonymous: purgeable(isNull), owned: purgeable(isNotNull) }

  /** True when a push has run out of time and nobody has written it down yet. */
  function hasLapsed(): boolean {
    return lapsed.get({ until: now() }) !== undefined
  }

  /** Writes down the expiry by time of some pushes; returns of how many. */
  function expireLapsed(): Promise<number> {
    return transact(() => {
      const time = now()
      const due = lapsed.all({ until: time })
      for (const before of due) {
        const isAltered = !isIntactPush(before)
        rows.write({ before, after: lapse(before, time), now: time, entry: null, isAltered })
      }
      return due.length
    })
  }

  /** Removes all trace of some pushes that expired at `until` or before; returns of how many. */
  function purgeExpired({ of, until }: { of: 'anonymous' | 'owned'; until: number }): Promise<number> {
    return transact(() => {
      let purged = 0
      let room = AUDIT_STEP
      for (const push of purgeableOf[of].all({ until })) {
        room -= push.auditEntries
        if (purged > 0 && room < 0) break
        rows.remove(push, now())
        purged += 1
      }
      return purged
    })
  }

  return { hasLapsed, expireLapsed, purgeExpired }
}
