// By which sessions the nodes of a database know their folder in a bucket, and which of them marks it first.

import { ageAt, type FolderSessions, listSessions } from '../../files/bucket-folder.ts'
import type { Read, Session } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'

/** Differs in a copy of the database, and stays what it is when a standby takes over. */
const IDENTITY = `(SELECT md5(system_identifier || '/' || (SELECT oid FROM pg_database WHERE datname = current_database()))
  FROM pg_control_system())`
const SESSION = `SELECT session, ${IDENTITY} AS identity FROM bucket_folder`

/** Of the nodes that live, the one that began first marks its bucket. */
const MARKED_BY_OTHERS = `
  SELECT EXISTS (
    SELECT FROM nodes AS other WHERE other.id <> $1 AND other.id IN (${LIVE_NODES}) AND NOT EXISTS (
      SELECT FROM nodes AS mine WHERE mine.id = $1 AND (mine.started_at, mine.id) < (other.started_at, other.id))) AS is`

/**
 * Reads the row each time, because a node that starts after all others were taken for dead begins a new session. The name of a
 * session ends with the identity of its database, so that those of a copy differ.
 */
export function sessionsOf(read: Read): FolderSessions {
  const find = () =>
    read(async ({ query }) => {
      const [row] = await query<{ session: string; identity: string }>(SESSION)
      return listSessions(row?.session ?? '').map((session) => `${session}.${row?.identity ?? ''}`)
    })
  return {
    now: async () => (await find())[0] ?? '',
    ageOf: async (session) => ageAt((await find()).indexOf(session)),
  }
}

/**
 * Whether this node must find a mark in its bucket. Asked each time, because the node that should have written it may be gone
 * before it reached the bucket.
 */
export async function isMarkedByOthers(
  { query }: Pick<Session, 'query'>,
  node: Uint8Array,
): Promise<boolean> {
  const [found] = await query<{ is: boolean }>(MARKED_BY_OTHERS, [node])
  return found?.is ?? false
}
