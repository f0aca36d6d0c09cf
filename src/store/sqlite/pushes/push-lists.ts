// Pages of an owner's pushes, read through an index.

import { and, count, desc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { PAGE_SIZE } from '../../../domain/audit.ts'
import { DamageError } from '../../../domain/errors.ts'
import type { ListedPush, LivePlace, PageOfPushes, PushCounts, PushListStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import { pushes, pushLabels } from '../engine/schema.ts'
import type { Damage } from '../integrity/damage.ts'
import { requireIntactPush } from './push-rows.ts'

/** Index entries that one step of counting walks, in about a millisecond: requests wait meanwhile. */
const COUNT_STEP = 10_000

export function createPushLists(options: {
  connection: Connection
  damage: Pick<Damage, 'presentIntact'>
}): PushListStore {
  const { orm } = options.connection
  // The inner query walks the index alone, so that a late page costs no more rows than an early one.
  const pageOfIds = orm
    .select({ id: pushes.id })
    .from(pushes)
    .where(
      and(
        eq(pushes.ownerId, sql.placeholder('ownerId')),
        sql`(${pushes.expiredOn} IS NOT NULL) = ${sql.placeholder('expired')}`,
      ),
    )
    .orderBy(desc(pushes.id))
    .limit(PAGE_SIZE)
    .offset(sql.placeholder('offset'))
  const page = orm
    .select({ push: pushes, labels: pushLabels })
    .from(pushes)
    .innerJoin(pushLabels, eq(pushLabels.pushId, pushes.id))
    .where(inArray(pushes.id, pageOfIds))
    .orderBy(desc(pushes.id))
    .prepare()

  async function listPushes({
    ownerId,
    expired,
    pageNumber,
  }: Parameters<PushListStore['listPushes']>[0]): Promise<PageOfPushes<ListedPush>> {
    const rows = page.all({ ownerId, expired: Number(expired), offset: (pageNumber - 1) * PAGE_SIZE })
    const pushes = options.damage.presentIntact(rows, (listed) => {
      const { push } = listed
      requireIntactPush(push)
      // An index that was altered on disk may lead to another's push.
      if (push.ownerId !== ownerId || (push.expiredOn !== null) !== expired)
        throw new DamageError('the index of owners')
      return listed
    })
    return { pushes, damaged: rows.length - pushes.length, isFull: rows.length === PAGE_SIZE }
  }

  const labelsOf = orm
    .select()
    .from(pushLabels)
    .where(eq(pushLabels.pushId, sql.placeholder('id')))
    .prepare()

  async function countPushes(): Promise<PushCounts> {
    const isLive = isNull(pushes.expiredOn)
    const countOf = (which: typeof isLive) =>
      orm.select({ n: count() }).from(pushes).where(which).get()?.n ?? 0
    const owned = and(isNotNull(pushes.expiredOn), isNotNull(pushes.ownerId))
    const anonymous = and(isNotNull(pushes.expiredOn), isNull(pushes.ownerId))
    return { live: countOf(isLive), expired: countOf(owned ?? isLive) + countOf(anonymous ?? isLive) }
  }

  // Both walk the index of live pushes alone; a row's id is part of each of its entries.
  const isAfter = sql`(${pushes.expiresAt}, ${pushes.id}) > (${sql.placeholder('expiresAt')}, ${sql.placeholder('id')})`
  const lastOfStep = orm
    .select({ expiresAt: pushes.expiresAt, id: pushes.id })
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), isAfter))
    .orderBy(pushes.expiresAt, pushes.id)
    .limit(1)
    .offset(COUNT_STEP - 1)
    .prepare()
  const restOfLive = orm
    .select({ n: count() })
    .from(pushes)
    .where(and(isNull(pushes.expiredOn), isAfter))
    .prepare()

  async function countSomeLive(after: LivePlace | null): ReturnType<PushListStore['countSomeLive']> {
    const from = after ?? { expiresAt: Number.MIN_SAFE_INTEGER, id: 0 }
    const next = lastOfStep.get(from) ?? null
    return { counted: next === null ? (restOfLive.get(from)?.n ?? 0) : COUNT_STEP, next }
  }

  return {
    countSomeLive,
    listPushes,
    findLabels: async (id) => labelsOf.get({ id }) ?? null,
    countPushes,
  }
}
