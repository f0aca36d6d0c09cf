// What the sweeper does, in small steps: write down expiry by time, and purge what has been expired for long.

import { and, asc, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { DamageError } from '../../../domain/errors.ts'
import { lapse } from '../../../domain/push.ts'
import type { Now } from '../../../domain/time.ts'
import type { ExpiryStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { pushes } from '../engine/schema.ts'
import type { Damage } from '../integrity/damage.ts'
import { isDamage } from '../integrity/row-checksum.ts'
import type { PushRemoval, RemovalStep } from './push-removal.ts'
import { isIntactPush, type PushRow, type PushRows } from './push-rows.ts'

const STEP = 100
/** Milliseconds of the event loop that one step takes, unless one push alone takes more: requests wait meanwhile. */
const STEP_MS = 10

export function createExpiry(options: {
  connection: Connection
  rows: PushRows
  removal: PushRemoval
  transact: Transact
  now: Now
  damage: Pick<Damage, 'tell'>
}): ExpiryStore {
  const { rows, removal, transact, now, damage } = options
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
  // The same words as in the index of owners.
  const lapsedOf = orm
    .select()
    .from(pushes)
    .where(
      and(
        eq(pushes.ownerId, sql.placeholder('ownerId')),
        sql`(${pushes.expiredOn} IS NOT NULL) = 0`,
        lte(pushes.expiresAt, until),
      ),
    )
    .limit(limit)
    .prepare()
  const live = orm
    .select({ id: pushes.id, expiresAt: pushes.expiresAt })
    .from(pushes)
    .where(isNull(pushes.expiredOn))
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

  function readLapsed(): PushRow[] {
    return withoutStuck(lapsed.all({ until: now(), limit: STEP + stuck.size }))
  }

  function withoutStuck<T extends { id: number }>(found: T[]): T[] {
    return found.filter(({ id }) => !stuck.has(id))
  }

  function findNextLapse(): number | null {
    return withoutStuck(live.all({ limit: 1 + stuck.size }))[0]?.expiresAt ?? null
  }

  function expireSome(read: () => PushRow[]): Promise<number> {
    return applyToSome({
      read,
      isDue: ({ expiredOn, expiresAt }) => expiredOn === null && expiresAt <= now(),
      apply: (before) => {
        const time = now()
        rows.write({ before, after: lapse(before, time), now: time, entry: null })
        return 'done'
      },
    })
  }

  /** Looks through the owner's live pushes only while some push of the instance is due, which is seldom. */
  async function expireLapsedOf(ownerId: number): Promise<void> {
    const read = () => withoutStuck(lapsedOf.all({ ownerId, until: now(), limit: STEP + stuck.size }))
    for (let done = 1; done > 0; ) {
      const next = findNextLapse()
      if (next === null || next > now()) return
      done = await expireSome(read)
    }
  }

  function purgeExpired({ of, until }: { of: 'anonymous' | 'owned'; until: number }): Promise<number> {
    return applyToSome({
      read: () => withoutStuck(purgeableOf[of].all({ until, limit: STEP + stuck.size })),
      isDue: ({ expiredOn, ownerId }) =>
        expiredOn !== null && expiredOn <= until && (ownerId === null) === (of === 'anonymous'),
      apply: removal.removeStep,
    })
  }

  type Task = {
    read: () => PushRow[]
    /** The rows come by an index, which may have been altered on disk. */
    isDue: (row: PushRow) => boolean
    apply: (row: PushRow) => 'done' | RemovalStep
  }

  /** Passes over what is damaged, and goes on until something is done or nothing is left to do. */
  async function applyToSome(task: Task): Promise<number> {
    for (;;) {
      const { applied, begun, broken, damaged } = await transact(() => applyTo(task.read(), task)).catch(
        (cause) => {
          if (!isDamage(cause)) throw cause
          return applyOneByOne(task)
        },
      )
      await removal.removeThoroughly(broken)
      for (const [id, cause] of damaged) {
        stuck.add(id)
        damage.tell(cause)
      }
      const done = applied + broken.length
      if (done > 0 || (damaged.length === 0 && begun === 0)) return done
    }
  }

  /** `begun`: with something left for the next step. `broken`: to be removed thoroughly. */
  type Applied = { applied: number; begun: number; broken: number[]; damaged: [number, unknown][] }

  const nothing = (): Applied => ({ applied: 0, begun: 0, broken: [], damaged: [] })

  /** Within a transaction: to as many as the time of a step allows. */
  function applyTo(some: PushRow[], { isDue, apply }: Task): Applied {
    const deadline = performance.now() + STEP_MS
    const all = nothing()
    for (const row of some) {
      if (isIntactPush(row) && isDue(row)) count(all, row, apply(row))
      else all.damaged.push([row.id, new DamageError(`push ${row.id}`)])
      if (performance.now() > deadline) break
    }
    return all
  }

  function count(all: Applied, { id }: PushRow, step: 'done' | RemovalStep): void {
    if (step === 'broken') all.broken.push(id)
    else if (step === 'shortened') all.begun += 1
    else all.applied += 1
  }

  /** What SQLite itself refuses to write takes all with it that is written in the same step. */
  async function applyOneByOne(task: Task): Promise<Applied> {
    const all = nothing()
    for (const { id } of task.read()) {
      try {
        const one = await transact(() =>
          applyTo(
            task.read().filter((row) => row.id === id),
            task,
          ),
        )
        all.applied += one.applied
        all.begun += one.begun
        all.broken.push(...one.broken)
        all.damaged.push(...one.damaged)
      } catch (cause) {
        if (!isDamage(cause)) throw cause
        all.damaged.push([id, cause])
      }
    }
    return all
  }

  return {
    findNextLapse: async () => findNextLapse(),
    expireLapsed: () => expireSome(readLapsed),
    expireLapsedOf,
    purgeExpired,
  }
}
