// Removes all trace of pushes that expired long ago, in small steps that all nodes share.

import type { Now } from '../../../domain/time.ts'
import type { ExpiryStore } from '../../face.ts'
import type { Transact } from '../engine/database.ts'
import { createPushRemoval, LOG_ENTRIES } from '../pushes/push-removal.ts'
import { LAST_TIME } from '../pushes/stored-push.ts'

const STEP = 100

type Purgeable = { id: number; files: number; entries: number }

const lockSome = (owner: string, when: string) => `
  SELECT id::float8 AS id, files, ${LOG_ENTRIES} AS entries
  FROM pushes WHERE expired_on IS NOT NULL AND ${owner} AND ${when}
  ORDER BY expired_on LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

const OWNER = { anonymous: 'owner_id IS NULL', owned: 'owner_id IS NOT NULL' }
const LOCK_SOME = mapOwners((owner) => lockSome(owner, 'expired_on <= $1::bigint'))
/** Nothing is left of pushes that ended at a time that is none, and no list shows them. */
const LOCK_TIMELESS = mapOwners((owner) => lockSome(owner, `expired_on > ${LAST_TIME}`))

function mapOwners(make: (owner: string) => string): Record<keyof typeof OWNER, string> {
  return { anonymous: make(OWNER.anonymous), owned: make(OWNER.owned) }
}

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
    const removed = await removeSome(async ({ query }) => {
      const found = await query<Purgeable>(LOCK_SOME[of], [until])
      return found.length > 0 ? found : query<Purgeable>(LOCK_TIMELESS[of])
    })
    if (removed.some(({ files }) => files > 0)) onDue()
    return removed.length
  }
}
