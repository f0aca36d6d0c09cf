// Whether the files of this database are on the disk or in a bucket. A start that would look for them in the wrong place is
// refused.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomBase32 } from '../crypto/random.ts'
import { DomainError } from '../domain/errors.ts'
import { type BucketFolderRow, readBucketFolder, writeBucketFolder } from './sqlite/engine/bucket-folder.ts'
import type { Connection } from './sqlite/engine/database.ts'
import type { FileRows } from './sqlite/pushes/file-rows.ts'

export type FilePlaceOptions = {
  connection: Connection
  rows: FileRows
  /** The folder of files on the disk. */
  path: string
  wantsBucket: boolean
  now: number
  onWarning: (warning: string) => void
}

/** The folder of this database in its bucket. `heldFiles`: whether pushes have files there. */
export type BucketFolder = {
  tag: string
  sessions: { last: string | null; now: string }
  heldFiles: boolean
}

const TAG_CHARACTERS = 26

/** Null when files are on the disk. Throws `conflict` when pushes have files in the other place. */
export function settleFilePlace(options: FilePlaceOptions): BucketFolder | null {
  const { connection, rows, wantsBucket, now } = options
  const before = readBucketFolder(connection)
  if ((before?.isUsed ?? false) !== wantsBucket) leavePlace(options, rows.countHeld(now))
  if (wantsBucket) return enterBucket(connection, before, rows.holdsAny())
  if (before?.isUsed) writeBucketFolder(connection, { ...before, isUsed: false })
  return null
}

function enterBucket(
  connection: Connection,
  before: BucketFolderRow | null,
  heldFiles: boolean,
): BucketFolder {
  const tag = before?.tag ?? randomBase32(TAG_CHARACTERS)
  const session = randomBase32(TAG_CHARACTERS)
  writeBucketFolder(connection, { tag, session, isUsed: true })
  return { tag, sessions: { last: before?.session ?? null, now: session }, heldFiles }
}

/** Files are not carried over: a place is left only when no push needs anything there. */
function leavePlace(options: FilePlaceOptions, held: ReturnType<FileRows['countHeld']>): void {
  const { rows, wantsBucket } = options
  const [here, there] = wantsBucket
    ? ['in the data folder', 'without --files-url']
    : ['in a bucket', 'with the --files-url of before']
  if (held.pushes > 0)
    throw new DomainError(
      'conflict',
      `${held.pushes === 1 ? 'A live push has its files' : `${held.pushes} live pushes have their files`} ${here}, which would be ` +
        `lost: start ${there} until they have expired, or delete them first.`,
    )
  if (held.granted > 0)
    throw new DomainError(
      'conflict',
      `Files ${here} can still be downloaded after a last view: start ${there}, or try again in some minutes.`,
    )
  removeRemains(options)
  rows.forgetAll()
}

/** What is due belongs to nobody any more. */
function removeRemains({ rows, path, wantsBucket, onWarning }: FilePlaceOptions): void {
  const due = rows.listAll()
  if (due.length === 0) return
  if (wantsBucket) for (const id of due) removeFromDisk(path, id)
  else
    onWarning(
      `${due.length} objects that belong to no push may remain in the bucket: a later start with it removes them.`,
    )
}

function removeFromDisk(path: string, id: string): void {
  for (const ending of ['', '.part']) rmSync(join(path, id.slice(0, 2), `${id}${ending}`), { force: true })
}
