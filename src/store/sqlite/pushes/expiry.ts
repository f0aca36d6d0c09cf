// The sweeper's work in small steps: writes pushes that ran out of time as expired, and purges those expired long ago.

import { and, asc, eq, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { DamageError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import { lapseStep } from '../../../domain/visits.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { ExpiryStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { pushes } from '../engine/schema.ts'
import { isDamage } from '../integrity/row-checksum.ts'
import { isIntactPush, type PushRow } from './push-checksum.ts'
import type { PushRemoval, RemovalStep } from './push-removal.ts'
import type { PushRows } from './push-rows.ts'

const STEP = 100
/** The longest that one step blocks the event loop, in milliseconds, unless a single push takes longer. */
const STEP_MS = 10

export function createExpiry(options: {
  connection: Connection
  rows: PushRows
  removal: PushRemoval
  transact: Transact
  /** The time by which something may be destroyed. */
  certain: Now
  damage: Pick<Damage, 'report'>
}): ExpiryStore {
  const { rows, removal, transact, certain, damage } = options
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
  // Repeats the expression of the index of owners, so that SQLite uses it.
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
  /** Damaged pushes, whose time of expiry is unknown. Skipped, so that they do not keep the others from expiring. */
  const stuck = new Set<number>()

  function readLapsed(): PushRow[] {
    return withoutStuck(lapsed.all({ until: certain(), limit: STEP + stuck.size }))
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
      isDue: ({ expiredOn, expiresAt }) => expiredOn === null && expiresAt <= certain(),
      apply: (before) => {
        rows.write(before, lapseStep(before, certain()))
        return 'done'
      },
    })
  }

  /** Reads the owner's live pushes only if some push of the instance is due, which is rare. */
  async function expireLapsedOf(ownerId: number): Promise<void> {
    const read = () => withoutStuck(lapsedOf.all({ ownerId, until: certain(), limit: STEP + stuck.size }))
    for (let done = 1; done > 0; ) {
      const next = findNextLapse()
      if (next === null || next > certain()) return
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
    /** Checked again, because the index that found the row may be damaged. */
    isDue: (row: PushRow) => boolean
    apply: (row: PushRow) => 'done' | RemovalStep
  }

  /** Skips damaged rows, and continues until something was done or nothing is left. */
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
        damage.report(cause)
      }
      const done = applied + broken.length
      if (done > 0 || (damaged.length === 0 && begun === 0)) return done
    }
  }

  /** `begun`: partly removed, to be continued in the next step. `broken`: needs `removeThoroughly`. */
  type Applied = { applied: number; begun: number; broken: number[]; damaged: [number, unknown][] }

  const nothing = (): Applied => ({ applied: 0, begun: 0, broken: [], damaged: [] })

  /** Within a transaction. Applies to as many rows as a step has time for. */
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

  /** A row that SQLite refuses to write would undo the whole step: applies to each row in a step of its own. */
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
