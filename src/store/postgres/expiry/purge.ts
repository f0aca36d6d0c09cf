// Removes all trace of pushes that expired long ago, in small steps that all nodes share.

import type { Now } from '../../../domain/time.ts'
import type { ExpiryStore } from '../../face.ts'
import type { Transact } from '../engine/database.ts'
import { createPushRemoval, LOG_ENTRIES } from '../pushes/push-removal.ts'

const STEP = 100

type Purgeable = { id: number; files: number; entries: number }

const lockSome = (owner: string) => `
  SELECT id::float8 AS id, files, ${LOG_ENTRIES} AS entries
  FROM pushes WHERE expired_on IS NOT NULL AND ${owner} AND expired_on <= $1::bigint
  ORDER BY expired_on LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

const LOCK_SOME = { anonymous: lockSome('owner_id IS NULL'), owned: lockSome('owner_id IS NOT NULL') }

export type PurgeOptions = {
  transact: Transact
  /** The time by which something may be destroyed. */
  certain: Now
  /** Called after a commit that made files due. */
  onDue: () => void
}

export function createPurge({ transact, certain, onDue }: PurgeOptions): ExpiryStore['purgeExpired'] {
  const removeSome = createPushRemoval({ transact, certain })

  return async ({ of, until }) => {
    const removed = await removeSome(({ query }) => query<Purgeable>(LOCK_SOME[of], [until]))
    if (removed.some(({ files }) => files > 0)) onDue()
    return removed.length
  }
}
