// Opens the sealed files whose rows PostgreSQL keeps, for one of the nodes that serve them.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { nameBucket } from '../../../domain/bucket-place.ts'
import { leftInBucket } from '../../files/bucket-folder.ts'
import { readFolderMark } from '../../files/folder-mark.ts'
import { type FilesOptions, openFiles } from '../../files/open-files.ts'
import { createFileRecords } from '../../pushes/file-records.ts'
import type { BucketOptions } from '../../s3/bucket.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { createSteps } from '../engine/run-steps.ts'
import { settleFilePlace } from './file-place.ts'
import { createFileReaders } from './file-readers.ts'

export type NodeFilesOptions = Omit<FilesOptions, 'records' | 'bucket' | 'onStep'> & {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** The id of this process among the nodes, which has its row there. */
  node: Uint8Array
  /** Of the machine. */
  name: string
  /** Null when the files are in the data folder. */
  bucket: BucketOptions | null
}

/** Throws `conflict` when this node would look for the files in another place than the others, or than before. */
export async function openNodeFiles(options: NodeFilesOptions) {
  const { database, path, name, bucket: settings, onWarning } = options
  const place =
    settings === null
      ? { isUsed: false, mark: readFolderMark(path), address: `${name}:${path}` }
      : { isUsed: true, mark: nameBucket(settings.place), address: nameBucket(settings.place) }
  const { folder, remains, left } = await settleFilePlace({ ...options, ...database, place })
  if (left?.isUsed && remains.length > 0) onWarning(leftInBucket(remains.length, left.address, left.tag))
  else removeFromDisk(path, remains)
  const steps = createSteps({ ...database, onDue: () => undefined })
  const records = {
    ...createFileRecords({ ...options, steps }),
    ...createFileReaders({ ...options, isShared: settings !== null }),
  }
  const bucket = settings === null ? null : { settings, folder }
  const files = openFiles({ ...options, records, bucket, onStep: undefined })
  await files.confirmPlace()
  return files
}

/** Those of another folder are not there, which is no failure. */
function removeFromDisk(folder: string, ids: readonly string[]): void {
  for (const id of ids)
    for (const ending of ['', '.part'])
      rmSync(join(folder, id.slice(0, 2), `${id}${ending}`), { force: true })
}
