// What the sweeper does, in small steps: write down expiry by time, and purge what has been expired for long.

import { and, asc, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { lapse } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { Damage } from './damage.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import { type PushRow, type PushRows, requireIntactPush } from './push-rows.ts'
import { isDamage } from './row-checksum.ts'
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
  damage: Pick<Damage, 'tell'>
}) {
  const { rows, transact, now, damage } = options
  const { orm } = options.connection
  const until = sql.placeholder('until')
  const limit = sql.placeholder('limit')
  const lapsed = orm
    .select()
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), lte(pushes.expiresAt, until)))
    .orderBy(asc(pushes.expiresAt))
    .limit(limit)
    .prepare()
  const purgeable = (owner: typeof isNull) =>
    orm
      .select()
      .from(pushes)
      .where(and(isNotNull(pushes.expiredOn), owner(pushes.ownerId), lte(pushes.expiredOn, until)))
      .orderBy(asc(pushes.expiredOn))
      .limit(limit)
      .prepare()
  const purgeableOf = { anonymous: purgeable(isNull), owned: purgeable(isNotNull) }
  /** Passed over: nobody knows when they were to end, and they must not keep all others from expiring. */
  const stuck = new Set<number>()

  function readLapsed(most = STEP): PushRow[] {
    return withoutStuck(lapsed.all({ until: now(), limit: most + stuck.size }))
  }

  function withoutStuck(found: PushRow[]): PushRow[] {
    return found.filter(({ id }) => !stuck.has(id))
  }

  /** True when a push has run out of time and nobody has written it down yet. */
  function hasLapsed(): boolean {
    return readLapsed(1).length > 0
  }

  /** Writes down the expiry by time of some pushes; returns of how many. */
  function expireLapsed(): Promise<number> {
    return applyToSome(readLapsed, (before) => {
      const time = now()
      rows.write({ before, after: lapse(before, time), now: time, entry: null })
    })
  }

  /** Removes all trace of some pushes that expired at `until` or before; returns of how many. */
  function purgeExpired({ of, until }: { of: 'anonymous' | 'owned'; until: number }): Promise<number> {
    const read = () => withinStep(withoutStuck(purgeableOf[of].all({ until, limit: STEP + stuck.size })))
    return applyToSome(read, (push) => rows.remove(push, now()))
  }

  /** In one step; when damage is in the way, one by one, so that only what is damaged is left. */
  async function applyToSome(read: () => PushRow[], apply: (row: PushRow) => void): Promise<number> {
    const applyIntact = (row: PushRow) => {
      requireIntactPush(row)
      apply(row)
    }
    try {
      return await transact(() => {
        const some = read()
        some.forEach(applyIntact)
        return some.length
      })
    } catch (cause) {
      if (!isDamage(cause)) throw cause
    }
    let applied = 0
    for (const { id } of read()) {
      try {
        await transact(() =>
          read()
            .filter((row) => row.id === id)
            .forEach(applyIntact),
        )
        applied += 1
      } catch (cause) {
        if (!isDamage(cause)) throw cause
        stuck.add(id)
        damage.tell(cause)
      }
    }
    return applied
  }

  return { hasLapsed, expireLapsed, purgeExpired }
}

/** As many as a step has room for: of a push with a long log, one. */
function withinStep(found: PushRow[]): PushRow[] {
  let room = AUDIT_STEP
  return found.filter(({ auditEntries }, index) => {
    room -= auditEntries
    return index === 0 || room >= 0
  })
}
