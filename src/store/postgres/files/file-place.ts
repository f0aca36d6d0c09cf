// Where the files of this database are: in one bucket for all nodes, or on the disk of the one node that serves. A node that
// would look for them elsewhere is refused.

import { randomBase32 } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import {
  addSession,
  type BucketFolder,
  type FilesAt,
  HELD_LOOKS,
  type HeldFiles,
  requireNothingHeld,
} from '../../files/bucket-folder.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'
import { sessionsOf } from './folder-sessions.ts'

export type FilePlaceOptions = {
  read: Read
  transact: Transact
  /** The id of this process among the nodes, which has its row there. */
  node: Uint8Array
  /** The folder on the disk by its mark, and what people call it; null when this node has a bucket. */
  disk: { mark: string; address: string } | null
  /** The time by which files are removed. */
  certain: Now
}

/** `remains`: files that belong to no push, in the place that was left. */
export type SettledPlace = { folder: (BucketFolder & { isShared: boolean }) | null; remains: string[] }

/** `isUsed`: the files are in the bucket. Without a mark they are on a disk that no node has served yet. */
type PlaceRow = { tag: string; session: string; isUsed: boolean; mark: string | null; address: string | null }

const CHARACTERS = 26

// Until the end of the transaction no other node settles.
const LOCK = 'LOCK TABLE bucket_folder IN SHARE ROW EXCLUSIVE MODE'
const READ = 'SELECT tag, session, is_used AS "isUsed", mark, address FROM bucket_folder'
const WRITE = `
  INSERT INTO bucket_folder (id, tag, session, is_used, mark, address) VALUES (1, $1, $2, $3, $4, $5)
  ON CONFLICT (id) DO UPDATE SET tag = $1, session = $2, is_used = $3, mark = $4, address = $5`
const OTHERS = `SELECT name FROM nodes WHERE id <> $1 AND id IN (${LIVE_NODES}) ORDER BY seen_at DESC`
const HELD = `
  SELECT (SELECT count(*) FROM (SELECT DISTINCT push_id FROM push_files) AS pushes)::float8 AS pushes,
    (SELECT count(*) FROM files_due WHERE at > $1::bigint AND push_id <> 0)::float8 AS granted`
const SOME_HELD = `
  (SELECT file_id AS id FROM push_files ORDER BY push_id DESC, n LIMIT ${HELD_LOOKS})
  UNION ALL (SELECT id FROM files_due WHERE at > $1::bigint AND push_id <> 0 LIMIT ${HELD_LOOKS}) LIMIT ${HELD_LOOKS}`
const FORGET_ALL = 'DELETE FROM files_due RETURNING id'
/** Throws `conflict` when the files are elsewhere, and needed there. */
export function settleFilePlace({ read, transact, ...options }: FilePlaceOptions): Promise<SettledPlace> {
  const { node, disk } = options
  return transact(async (session) => {
    await session.query(LOCK)
    const [before = null] = await session.query<PlaceRow>(READ)
    const [other = null] = await session.query<{ name: string }>(OTHERS, [node])
    const remains = await leavePlace(session, { ...options, before, other: other?.name ?? null })
    const tag = await enterPlace(session, { disk, before, isAlone: other === null })
    if (disk !== null) return { folder: null, remains }
    const findHeld = () => listHeld(read, options.certain())
    return { folder: { tag, sessions: sessionsOf(read), findHeld, isShared: other !== null }, remains }
  })
}

async function listHeld(read: Read, now: number): Promise<string[]> {
  const found = await read(({ query }) => query<{ id: string }>(SOME_HELD, [now]))
  return found.map(({ id }) => id)
}

type Leaving = Omit<FilePlaceOptions, 'read' | 'transact'> & { before: PlaceRow | null; other: string | null }

/** Files are not carried over: a place is left only when no push needs anything there. */
async function leavePlace({ query }: Session, { disk, certain, before, other }: Leaving): Promise<string[]> {
  if (isSame(before, disk)) return []
  if (other !== null) throw refuse(other, { disk, before })
  if (before === null) return []
  const [held] = await query<HeldFiles>(HELD, [certain()])
  if (held !== undefined) requireNothingHeld(held, before.isUsed ? 'bucket' : nameDisk(before, disk))
  return (await query<{ id: string }>(FORGET_ALL)).map(({ id }) => id)
}

type Entering = Pick<Leaving, 'disk' | 'before'> & { isAlone: boolean }

/**
 * Writes down where the files are from now on, and resolves to the tag of their folder in a bucket. Nodes that serve at the same
 * time are one session.
 */
async function enterPlace({ query }: Session, { disk, before, isAlone }: Entering): Promise<string> {
  const tag = before?.tag ?? randomBase32(CHARACTERS)
  const session = before === null || isAlone ? addSession(before?.session ?? null) : before.session
  await query(WRITE, [tag, session, disk === null, disk?.mark ?? null, disk?.address ?? null])
  return tag
}

function isSame(before: PlaceRow | null, disk: FilePlaceOptions['disk']): boolean {
  if (disk === null) return before === null || before.isUsed
  return before !== null && !before.isUsed && (before.mark === null || before.mark === disk.mark)
}

function nameDisk({ address }: PlaceRow, disk: FilePlaceOptions['disk']): FilesAt {
  return disk === null || address === null ? 'disk' : { disk: address }
}

function refuse(other: string, { disk, before }: Pick<Leaving, 'disk' | 'before'>): DomainError {
  const rule = 'All nodes of one database keep their files in one bucket'
  if (disk === null)
    return new DomainError(
      'conflict',
      `The node ${other} keeps the files on its disk. ${rule}: give it the same --files-url, once no push needs its files.`,
    )
  if (before?.isUsed)
    return new DomainError('conflict', `${rule}: start this one with the --files-url of the node ${other}.`)
  return new DomainError(
    'conflict',
    `The node ${other} serves this database with its files on a disk, which no other node can reach. ${rule}: name it with ` +
      '--files-url.',
  )
}
