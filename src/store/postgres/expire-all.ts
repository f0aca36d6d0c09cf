// Makes a restored database safe to serve: expires every push, and removes no file of another database that
// uses the same bucket.

import type { Visit } from '../../domain/audit.ts'
import { DAY } from '../../domain/time.ts'
import { demotePasskeys } from '../accounts/passkeys.ts'
import { newTag } from '../files/file-location.ts'
import { countEventsFrom } from '../notices/events.ts'
import { loseSome } from '../pushes/expiry.ts'
import { REMOVE_REQUESTS } from '../requests.ts'
import type { PostgresDatabase } from './engine/database.ts'
import { drive } from './engine/run-steps.ts'
import type { PostgresSession } from './engine/session.ts'
import { requireAlone } from './instance/instance.ts'

/** The timeout: a day, because there may be millions of rows. */
const PATIENT = { within: DAY }

/**
 * Tables to empty: their restored rows would give access, repeat the answer of an ended push, or name former
 * nodes.
 */
const EMPTIED = ['sessions', 'account_links', 'idempotency_keys', 'files_read', 'nodes']

const LIVE = 'SELECT count(*) AS count FROM pushes WHERE expired_on IS NULL'
const FOLDER = 'SELECT tag, is_used AS "isBucket" FROM bucket_folder'

export async function countLive({ transact }: Pick<PostgresDatabase, 'transact'>): Promise<number> {
  const [row] = await transact(({ query }) => query<{ count: number }>(LIVE), PATIENT)
  return row?.count ?? 0
}

type ExpireOptions = {
  /** The database's clock unless a test sets it. */
  now?: number
  visit: Visit
  onProgress: (done: number) => void
}

type ExpiredAll = {
  /** The number of expired pushes. */
  lost: number
  /** The former folder in the bucket, whose files nothing removes any more; null without a bucket. */
  leftPrefix: string | null
}

/**
 * Expires every push in one transaction. After that, nodes accept the database. Throws `conflict` while a
 * node serves it.
 */
export function expireAll(
  { transact }: Pick<PostgresDatabase, 'transact'>,
  { visit, onProgress, now }: ExpireOptions,
): Promise<ExpiredAll> {
  return transact(async (session) => {
    const { query } = session
    const { time, here, expiredAllAt } = await requireAlone(session)
    const at = now ?? time
    let [done, lost] = [0, 0]
    await query('DELETE FROM events')
    await drive(countEventsFrom(at), { query })
    for (let found = -1; found !== 0; ) {
      // Await each statement instead of pipelining: there may be millions.
      const some = await drive(loseSome({ now: at, visit }), { query })
      found = some.found
      done += found
      lost += some.lost
      onProgress(done)
    }
    const leftPrefix = await leaveBucket(session)
    for (const table of EMPTIED) await query(`DELETE FROM ${table}`)
    await query(REMOVE_REQUESTS)
    await drive(demotePasskeys(), { query })
    const expiredAt = Math.max(at, expiredAllAt + 1)
    await query('UPDATE instance SET expired_all_at = $1, place = $2', [expiredAt, here])
    return { lost, leftPrefix }
  }, PATIENT)
}

/**
 * Abandons the folder in the bucket, because it may belong to the database from which this one was copied.
 * New files go to a new folder.
 */
async function leaveBucket({ query }: PostgresSession): Promise<string | null> {
  const [before] = await query<{ tag: string; isBucket: boolean }>(FOLDER)
  await query('UPDATE bucket_folder SET tag = $1', [newTag()])
  if (before?.isBucket !== true) return null
  await query('DELETE FROM files_due')
  return before.tag
}
