// Whether the files of this database are on the disk or in a bucket. A start that would look for them in the wrong place is
// refused.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { randomBase32 } from '../../../crypto/random.ts'
import type { Now } from '../../../domain/time.ts'
import { addSession, type BucketFolder, ownSessions, requireNothingHeld } from '../../files/bucket-folder.ts'
import type { Connection } from '../engine/database.ts'
import { type BucketFolderRow, readBucketFolder, writeBucketFolder } from './bucket-folder.ts'
import type { FileRows } from './file-rows.ts'

export type FilePlaceOptions = {
  connection: Connection
  rows: FileRows
  /** The folder of files on the disk. */
  path: string
  wantsBucket: boolean
  /** The time by which files are removed. */
  certain: Now
  onWarning: (warning: string) => void
}

const TAG_CHARACTERS = 26

/** Null when files are on the disk. Throws `conflict` when pushes have files in the other place. */
export function settleFilePlace(options: FilePlaceOptions): BucketFolder | null {
  const { connection, rows, wantsBucket, certain } = options
  const before = readBucketFolder(connection)
  if ((before?.isUsed ?? false) !== wantsBucket) {
    // Files are not carried over: a place is left only when no push needs anything there.
    requireNothingHeld(rows.countHeld(certain()), wantsBucket ? 'disk' : 'bucket')
    removeRemains(options)
    rows.forgetAll()
  }
  if (wantsBucket) return enterBucket(options, before)
  if (before?.isUsed) writeBucketFolder(connection, { ...before, isUsed: false })
  return null
}

function enterBucket(
  { connection, rows, certain }: FilePlaceOptions,
  before: BucketFolderRow | null,
): BucketFolder {
  const tag = before?.tag ?? randomBase32(TAG_CHARACTERS)
  const session = addSession(before?.session ?? null)
  writeBucketFolder(connection, { tag, session, isUsed: true })
  return { tag, sessions: ownSessions(session), findHeld: async () => rows.listHeld(certain()) }
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
