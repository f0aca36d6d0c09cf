// Whether the files of this database are on the disk or in a bucket. A start that would look for them in the wrong place is
// refused.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomBase32 } from '../../../crypto/random.ts'
import type { Now } from '../../../domain/time.ts'
import {
  type BucketFolder,
  HELD_LOOKS,
  type HeldFiles,
  leftInBucket,
  requireNothingHeld,
  TAG_CHARACTERS,
} from '../../files/bucket-folder.ts'
import type { Connection } from '../engine/database.ts'
import { type BucketFolderRow, readBucketFolder, writeBucketFolder } from './bucket-folder.ts'

export type FilePlaceOptions = {
  connection: Connection
  /** The folder of files on the disk. */
  path: string
  /** Names the bucket; null when files are to be on the disk. */
  bucket: string | null
  now: Now
  onWarning: (warning: string) => void
}

/** Null when files are on the disk. Throws `conflict` when pushes have files in the other place. */
export function settleFilePlace(options: FilePlaceOptions): BucketFolder | null {
  const { connection, bucket, now } = options
  const before = readBucketFolder(connection)
  if ((before?.isUsed ?? false) !== (bucket !== null)) {
    // Files are not carried over: a place is left only when no push needs anything there.
    requireNothingHeld(countHeld(connection, now()), bucket === null ? 'bucket' : 'disk')
    forgetDue(options, before)
  }
  if (bucket !== null) return enterBucket(options, { before, place: bucket })
  if (before?.isUsed) writeBucketFolder(connection, { ...before, isUsed: false })
  return null
}

function enterBucket(
  options: FilePlaceOptions,
  { before, place }: { before: BucketFolderRow | null; place: string },
): BucketFolder {
  const { connection, now } = options
  const tag = before?.tag ?? randomBase32(TAG_CHARACTERS)
  const accept = () => writeBucketFolder(connection, { tag, place, isUsed: true })
  const needed = before?.isUsed && before.place !== place ? listHeld(connection, now()) : []
  if (needed.length > 0) return { tag, doubt: { needed, accept: async () => accept() } }
  if (before?.isUsed && before.place !== place) forgetDue(options, before)
  accept()
  return { tag, doubt: null }
}

/** What is due in the place that is left belongs to nobody any more. */
function forgetDue({ connection, path, onWarning }: FilePlaceOptions, before: BucketFolderRow | null): void {
  const due = listIds(connection, 'SELECT id FROM files_due')
  if (!before?.isUsed) for (const id of due) removeFromDisk(path, id)
  else if (due.length > 0) onWarning(leftInBucket(due.length, before.place, before.tag))
  connection.database.run('DELETE FROM files_due')
}

function removeFromDisk(path: string, id: string): void {
  for (const ending of ['', '.part']) rmSync(join(path, id.slice(0, 2), `${id}${ending}`), { force: true })
}

/** Files that wait for the end of their grants, and not for a removal that failed. */
const IS_GRANTED = 'at > ? AND push_id <> 0'
const HELD = `SELECT (SELECT count(DISTINCT push_id) FROM push_files) AS pushes,
    (SELECT count(*) FROM files_due WHERE ${IS_GRANTED}) AS granted`
const SOME_HELD = `SELECT * FROM (SELECT file_id AS id FROM push_files ORDER BY push_id DESC LIMIT ${HELD_LOOKS})
  UNION ALL SELECT id FROM files_due WHERE ${IS_GRANTED} LIMIT ${HELD_LOOKS}`

/** How many pushes have files, and how many files can be downloaded after a last view. */
function countHeld({ database }: Connection, now: number): HeldFiles {
  return database.query<HeldFiles, [number]>(HELD).get(now) ?? { pushes: 0, granted: 0 }
}

/** Some of the files that live pushes have, the latest first, or that can be downloaded after a last view. */
function listHeld(connection: Connection, now: number): string[] {
  return listIds(connection, SOME_HELD, now)
}

function listIds({ database }: Connection, text: string, ...values: number[]): string[] {
  return database
    .query<{ id: string }, number[]>(text)
    .all(...values)
    .map(({ id }) => id)
}
