// Removes pushes with everything that belongs to them, within a transaction that has locked their rows.

import type { Now } from '../../../domain/time.ts'
import type { Session } from '../engine/database.ts'
import { GIVE_BACK } from './address-shares.ts'
import { destroyAnswers } from './idempotency-keys.ts'

/** Entries of logs that one transaction deletes. */
export const LOG_STEP = 5_000

/** Within a transaction that has locked these pushes in ascending order. */
export type RemovePushes = (session: Session, ids: readonly number[]) => Promise<void>

/** `certain` is the time from which the files are due. */
export function createPushRemoval({ certain }: { certain: Now }): RemovePushes {
  return async (session, ids) => {
    const run = (text: string, ...more: unknown[]) => session.query(text, [ids, ...more])
    await run(RELEASE_FILES, certain())
    await run(END_GRANTS, certain())
    await run(RETURN_SHARES_AND_ANSWERS)
    for (const table of ['push_secrets', 'push_labels', 'audit_entries'])
      await run(`DELETE FROM ${table} WHERE push_id = ANY($1::bigint[])`)
    await run('DELETE FROM pushes WHERE id = ANY($1::bigint[])')
  }
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

/** Within a transaction. Deletes some of the oldest entries of a long log, so that the rest fits one transaction. */
export async function shortenLog(session: Session, pushId: number): Promise<void> {
  await session.query(
    `DELETE FROM audit_entries WHERE push_id = $1 AND n < (
       SELECT n FROM audit_entries WHERE push_id = $1 ORDER BY n OFFSET ${LOG_STEP} LIMIT 1)`,
    [pushId],
  )
}

/** As many as have a step's entries in their logs together, and at least one. */
export function countRemovable(found: readonly { entries: number }[]): number {
  let entries = 0
  const tooMany = found.findIndex((push) => {
    entries += push.entries
    return entries > LOG_STEP
  })
  return tooMany === -1 ? found.length : Math.max(1, tooMany)
}
