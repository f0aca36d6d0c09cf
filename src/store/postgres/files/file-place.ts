// Where the files of this database are: in one bucket for all nodes, or on the disk of the one node that serves. A node that
// would look for them elsewhere is refused.

import { randomBase32 } from '../../../crypto/random.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import {
  type BucketFolder,
  type FilesAt,
  HELD_LOOKS,
  type HeldFiles,
  requireNothingHeld,
  TAG_CHARACTERS,
} from '../../files/bucket-folder.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'

export type FilePlaceOptions = {
  read: Read
  transact: Transact
  /** The id of this process among the nodes, which has its row there. */
  node: Uint8Array
  place: FilePlace
  now: Now
}

/** A folder on the disk by its mark or, if it `isUsed`, a bucket; and what people call it. */
export type FilePlace = { isUsed: boolean; mark: string; address: string }

/** `remains`: files that belong to no push, in the place `left`. */
export type SettledPlace = { folder: BucketFolder; remains: string[]; left: PlaceRow | null }

/** `isUsed`: the files are in the bucket. */
type PlaceRow = FilePlace & { tag: string }

// Until the end of the transaction no other node settles.
const LOCK = 'LOCK TABLE bucket_folder IN SHARE ROW EXCLUSIVE MODE'
const READ = 'SELECT tag, is_used AS "isUsed", mark, address FROM bucket_folder'
const WRITE = `
  INSERT INTO bucket_folder (id, tag, is_used, mark, address) VALUES (1, $1, $2, $3, $4)
  ON CONFLICT (id) DO UPDATE SET tag = $1, is_used = $2, mark = $3, address = $4`
const OTHERS = `SELECT name FROM nodes WHERE id <> $1 AND id IN (${LIVE_NODES}) ORDER BY seen_at DESC`
const HELD = `
  SELECT (SELECT count(*) FROM (SELECT DISTINCT push_id FROM push_files) AS pushes)::float8 AS pushes,
    (SELECT count(*) FROM files_due WHERE at > $1::bigint AND push_id <> 0)::float8 AS granted`
const SOME_HELD = `
  (SELECT file_id AS id FROM push_files ORDER BY push_id DESC, n LIMIT ${HELD_LOOKS})
  UNION ALL (SELECT id FROM files_due WHERE at > $1::bigint AND push_id <> 0 LIMIT ${HELD_LOOKS}) LIMIT ${HELD_LOOKS}`
const FORGET_ALL = 'DELETE FROM files_due RETURNING id'

/** Throws `conflict` when the files are elsewhere, and needed there. */
export function settleFilePlace({ transact, ...options }: FilePlaceOptions): Promise<SettledPlace> {
  return transact(async (session) => {
    await session.query(LOCK)
    const [before = null] = await session.query<PlaceRow>(READ)
    const tag = before?.tag ?? randomBase32(TAG_CHARACTERS)
    if (before === null || isSame(before, options.place)) {
      await write(session, tag, options.place)
      return { folder: { tag, doubt: null }, remains: [], left: null }
    }
    return changePlace(session, { ...options, transact, before })
  })
}

type Changing = Omit<FilePlaceOptions, 'read'> & { before: PlaceRow }

/** Files are not carried over: a place is left only when no push needs anything there, or the new bucket holds it. */
async function changePlace(session: Session, changing: Changing): Promise<SettledPlace> {
  const { place, before, node, now, transact } = changing
  const { tag } = before
  const [other] = await session.query<{ name: string }>(OTHERS, [node])
  if (other !== undefined) throw refuse(other.name, { place, before })
  const [held = { pushes: 0, granted: 0 }] = await session.query<HeldFiles>(HELD, [now()])
  if (before.isUsed && place.isUsed && held.pushes + held.granted > 0) {
    const needed = (await session.query<{ id: string }>(SOME_HELD, [now()])).map(({ id }) => id)
    const accept = () => transact((later) => write(later, tag, place))
    return { folder: { tag, doubt: { needed, accept } }, remains: [], left: null }
  }
  requireNothingHeld(held, before.isUsed ? 'bucket' : nameDisk(before, place))
  const remains = (await session.query<{ id: string }>(FORGET_ALL)).map(({ id }) => id)
  await write(session, tag, place)
  return { folder: { tag, doubt: null }, remains, left: before }
}

async function write({ query }: Session, tag: string, { isUsed, mark, address }: FilePlace): Promise<void> {
  await query(WRITE, [tag, isUsed, mark, address])
}

const isSame = (before: PlaceRow, { isUsed, mark }: FilePlace) =>
  before.isUsed === isUsed && before.mark === mark

function nameDisk({ address }: PlaceRow, place: FilePlace): FilesAt {
  return place.isUsed ? 'disk' : { disk: address }
}

function refuse(other: string, { place, before }: Pick<Changing, 'place' | 'before'>): DomainError {
  const rule = 'All nodes of one database keep their files in one bucket'
  if (before.isUsed)
    return new DomainError(
      'conflict',
      `${rule}: start this one with the --files-url of the node ${other} (${before.address}).`,
    )
  if (place.isUsed)
    return new DomainError(
      'conflict',
      `The node ${other} keeps the files on its disk. ${rule}: give it the same --files-url, once no push needs its files.`,
    )
  return new DomainError(
    'conflict',
    `The node ${other} serves this database with its files on a disk, which no other node can reach. ${rule}: name it with ` +
      '--files-url.',
  )
}
