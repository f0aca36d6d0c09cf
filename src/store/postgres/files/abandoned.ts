// What nodes that are dead had not finished.

import type { Session } from '../engine/database.ts'
import { forgetDeadReaders } from './file-readers.ts'

const GIVE_UP_ABANDONED = `
  UPDATE files_due SET at = $1::bigint, node = NULL WHERE id = ANY(ARRAY(
    SELECT id FROM files_due WHERE node IS NOT NULL AND NOT EXISTS (SELECT FROM nodes WHERE nodes.id = files_due.node)
    ORDER BY id FOR UPDATE SKIP LOCKED
  ))`

/** Within a transaction that has removed dead nodes: makes the uploads due that they have not finished. */
export async function giveUpAbandoned(session: Session, now: number): Promise<void> {
  await session.query(GIVE_UP_ABANDONED, [now])
  await forgetDeadReaders(session)
}
