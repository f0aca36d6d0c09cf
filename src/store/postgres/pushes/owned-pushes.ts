// What happens to the pushes of an account that goes: they are removed in steps, or become anonymous.

import type { OwnedPushes } from '../../accounts/accounts.ts'
import { run, type Step, statement } from '../../steps.ts'
import type { Session } from '../engine/database.ts'
import { LOG_ENTRIES, type RemoveSome } from './push-removal.ts'

/** Pushes that one transaction removes at most. */
const STEP = 100

/** Names both kinds, so that PostgreSQL reads the indexes of live and of ended pushes. */
const IS_OWNED = 'p.owner_id = $1 AND (p.expired_on IS NULL OR p.expired_on IS NOT NULL)'

type Found = { id: number; entries: number }

export type OwnedPushesOptions = {
  removeSome: RemoveSome
  /** Called when files have to be removed. */
  onDue: () => void
}

const DISOWN = [
  `SELECT count(*) FROM (SELECT id FROM pushes p WHERE ${IS_OWNED} ORDER BY id FOR UPDATE) AS locked`,
  `DELETE FROM push_labels WHERE push_id = ANY(ARRAY(SELECT p.id FROM pushes p WHERE ${IS_OWNED}))`,
  `UPDATE pushes p SET owner_id = NULL, version = version + 1 WHERE ${IS_OWNED}`,
].map((text) => statement(text))

export function createOwnedPushes({ removeSome, onDue }: OwnedPushesOptions): OwnedPushes {
  /** Removes some pushes of an account and resolves to their number, 0 when none is left. */
  async function removeSomeOf(ownerId: number): Promise<number> {
    const removed = await removeSome((session) => lockSome(session, ownerId))
    if (removed.length > 0) onDue()
    return removed.length
  }

  function* disown(ownerId: number): Step<void> {
    for (const text of DISOWN) yield* run(text, ownerId)
  }

  return { removeSome: removeSomeOf, disown }
}

async function lockSome({ query }: Session, ownerId: number): Promise<Found[]> {
  // Otherwise PostgreSQL may collect and sort all pushes of the account for each step, if it expects only a few.
  await query("SELECT set_config('enable_bitmapscan', 'off', true)")
  return query<Found>(LOCK_SOME, [ownerId])
}

/** The inner queries read the indexes of owners; the outer one locks in ascending order, as every transaction does. */
const LOCK_SOME = `
  SELECT id::float8 AS id, ${LOG_ENTRIES} AS entries FROM pushes
  WHERE owner_id = $1 AND id = ANY(ARRAY(
    (SELECT id FROM pushes WHERE owner_id = $1 AND expired_on IS NULL ORDER BY id LIMIT ${STEP})
    UNION ALL
    (SELECT id FROM pushes WHERE owner_id = $1 AND expired_on IS NOT NULL ORDER BY id LIMIT ${STEP})
    LIMIT ${STEP}))
  ORDER BY id FOR UPDATE OF pushes`
