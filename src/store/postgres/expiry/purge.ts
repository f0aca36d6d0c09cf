// Removes all trace of pushes that expired long ago, in small steps that all nodes share.

import type { ExpiryStore } from '../../face.ts'
import type { Session } from '../engine/database.ts'
import { countRemovable, createPushRemoval, LOG_STEP, shortenLog } from '../pushes/push-removal.ts'
import type { ExpiryOptions } from './expiry.ts'

const STEP = 100

type Purgeable = { id: number; files: number; entries: number }

/** The entries of a log are counted only as far as matters. */
const lockSome = (owner: string) => `
  SELECT id::float8 AS id, files,
    (SELECT count(*) FROM (
       SELECT 1 FROM audit_entries WHERE push_id = pushes.id LIMIT ${LOG_STEP + 1}) AS log)::float8 AS entries
  FROM pushes WHERE expired_on IS NOT NULL AND ${owner} AND expired_on <= $1::bigint
  ORDER BY expired_on LIMIT ${STEP} FOR UPDATE SKIP LOCKED`

const LOCK_SOME = { anonymous: lockSome('owner_id IS NULL'), owned: lockSome('owner_id IS NOT NULL') }

export function createPurge({ database, certain, onDue }: ExpiryOptions): ExpiryStore['purgeExpired'] {
  const remove = createPushRemoval({ certain })

  async function removeStep(session: Session, which: Parameters<ExpiryStore['purgeExpired']>[0]) {
    const found = await session.query<Purgeable>(LOCK_SOME[which.of], [which.until])
    const some = found.slice(0, countRemovable(found))
    const [first] = some
    if (first !== undefined && first.entries > LOG_STEP) {
      await shortenLog(session, first.id)
      return 'shortened'
    }
    if (some.length > 0)
      await remove(
        session,
        some.map(({ id }) => id),
      )
    return some
  }

  return async (which) => {
    for (;;) {
      const removed = await database.transact((session) => removeStep(session, which))
      if (removed === 'shortened') continue
      if (removed.some(({ files }) => files > 0)) onDue()
      return removed.length
    }
  }
}
