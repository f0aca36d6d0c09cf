// What nodes that are dead had not finished.

import type { Session } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'
import { forgetDeadReaders } from './file-readers.ts'

const GIVE_UP_ABANDONED = `
  UPDATE files_due SET at = $1::bigint, node = NULL WHERE id = ANY(ARRAY(
    SELECT id FROM files_due WHERE node IS NOT NULL
      AND NOT EXISTS (SELECT FROM (${LIVE_NODES}) AS live WHERE live.id = files_due.node)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ))`

/** Within a transaction: makes the uploads due that dead nodes have not finished. */
export async function giveUpAbandoned(session: Session, now: number): Promise<void> {
  await session.query(GIVE_UP_ABANDONED, [now])
  await forgetDeadReaders(session)
}
