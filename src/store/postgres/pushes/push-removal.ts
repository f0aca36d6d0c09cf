// Removes pushes with everything that belongs to them, some in each transaction.

import type { Now } from '../../../domain/time.ts'
import type { Session, Transact } from '../engine/database.ts'
import { GIVE_BACK } from './address-shares.ts'
import { destroyAnswers } from './idempotency-keys.ts'

/** Entries of logs that one transaction deletes. */
const LOG_STEP = 5_000

/** An expression in a query of `pushes`: how many entries the log of a push has, counted only as far as matters. */
export const LOG_ENTRIES = `(SELECT count(*) FROM (
    SELECT 1 FROM audit_entries WHERE push_id = pushes.id LIMIT ${LOG_STEP + 1}) AS log)::float8`

/** `entries` is its `LOG_ENTRIES`. */
type Removable = { id: number; entries: number }

/**
 * Removes some of the pushes that `lock` finds and locks, in ascending order, and resolves to those that are gone; an empty array
 * when `lock` found none. A log that is too long for one transaction is shortened in transactions of its own first.
 */
export type RemoveSome = <Push extends Removable>(
  lock: (session: Session) => Promise<readonly Push[]>,
) => Promise<readonly Push[]>

export type PushRemovalOptions = {
  transact: Transact
  /** The time from which the files are due. */
  certain: Now
}

export function createPushRemoval({ transact, certain }: PushRemovalOptions): RemoveSome {
  return async (lock) => {
    for (;;) {
      const removed = await transact(async (session) => {
        const found = await lock(session)
        const [first] = found
        if (first === undefined) return found
        if (first.entries > LOG_STEP) return shortenLog(session, first.id)
        const some = found.slice(0, countRemovable(found))
        const ids = some.map(({ id }) => id)
        await remove(session, ids, certain())
        return some
      })
      if (removed !== 'shortened') return removed
    }
  }
}

async function remove(session: Session, ids: readonly number[], certain: number): Promise<void> {
  const run = (text: string, ...more: unknown[]) => session.query(text, [ids, ...more])
  await run(RELEASE_FILES, certain)
  await run(END_GRANTS, certain)
  await run(RETURN_SHARES_AND_ANSWERS)
  for (const table of ['push_secrets', 'push_labels', 'audit_entries'])
    await run(`DELETE FROM ${table} WHERE push_id = ANY($1::bigint[])`)
  await run('DELETE FROM pushes WHERE id = ANY($1::bigint[])')
}

const RELEASE_FILES = `
  WITH gone AS (DELETE FROM push_files WHERE push_id = ANY($1::bigint[]) RETURNING file_id)
  INSERT INTO files_due (id, at) SELECT file_id, $2::bigint FROM gone ON CONFLICT (id) DO NOTHING`

const END_GRANTS = `
  UPDATE files_due SET at = $2::bigint, push_id = NULL WHERE push_id = ANY($1::bigint[]) AND at > $2::bigint`

const RETURN_SHARES_AND_ANSWERS = `
  WITH freed AS (DELETE FROM live_shares WHERE push_id = ANY($1::bigint[]) RETURNING address, bytes), ${GIVE_BACK},
  ${destroyAnswers('$1::bigint[]')}
  SELECT 1`

/** Deletes some of the oldest entries of a long log. */
async function shortenLog(session: Session, pushId: number): Promise<'shortened'> {
  await session.query(
    `DELETE FROM audit_entries WHERE push_id = $1 AND n < (
       SELECT n FROM audit_entries WHERE push_id = $1 ORDER BY n OFFSET ${LOG_STEP} LIMIT 1)`,
    [pushId],
  )
  return 'shortened'
}

/** How many of the first pushes have logs that fit into one step together; at least one. */
function countRemovable(found: readonly { entries: number }[]): number {
  let entries = 0
  const tooMany = found.findIndex((push) => {
    entries += push.entries
    return entries > LOG_STEP
  })
  return tooMany === -1 ? found.length : Math.max(1, tooMany)
}
