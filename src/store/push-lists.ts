// Pages of an owner's pushes, read through an index.

import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { PAGE_SIZE } from '../domain/audit.ts'
import type { Connection } from './database.ts'
import type { SealedLabels, StoredPush } from './pushes.ts'
import { pushes, pushLabels } from './schema.ts'

export type ListedPush = { push: StoredPush; labels: SealedLabels }

export type PushLists = ReturnType<typeof createPushLists>

export function createPushLists({ orm }: Connection) {
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
  /** Newest first; `pageNumber` counts from 1. */
  function listPushes(of: { ownerId: number; expired: boolean; pageNumber: number }): ListedPush[] {
    const { ownerId, expired, pageNumber } = of
    return page.all({ ownerId, expired: Number(expired), offset: (pageNumber - 1) * PAGE_SIZE })
  }

  return { listPushes }
}
