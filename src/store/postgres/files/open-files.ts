// Opens the sealed files whose rows PostgreSQL keeps, for one of the nodes that serve them.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isDomainError } from '../../../domain/errors.ts'
import { SECOND } from '../../../domain/time.ts'
import { readFolderMark } from '../../files/folder-mark.ts'
import { type FilesOptions, openFiles } from '../../files/open-files.ts'
import { createFileRecords } from '../../pushes/file-records.ts'
import type { BucketOptions } from '../../s3/bucket.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { createSteps } from '../engine/run-steps.ts'
import { settleFilePlace } from './file-place.ts'
import { createFileReaders } from './file-readers.ts'
import { isMarkedByOthers } from './folder-sessions.ts'

export type NodeFilesOptions = Omit<FilesOptions, 'records' | 'bucket' | 'onStep'> & {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** The id of this process among the nodes, which has its row there. */
  node: Uint8Array
  /** Of the machine. */
  name: string
  /** Null when the files are in the data folder. */
  bucket: BucketOptions | null
  /** Milliseconds to wait for another node that has just started to mark the bucket. */
  patience?: number | undefined
}

const MARK_MS = 15 * SECOND
const RETRY_MS = 250

/** Throws `conflict` when this node would look for the files in another place than the others, or than before. */
export async function openNodeFiles(options: NodeFilesOptions) {
  const { database, path, name, bucket: settings, onWarning } = options
  const disk = settings === null ? { mark: readFolderMark(path), address: `${name}:${path}` } : null
  const { folder, remains } = await settleFilePlace({ ...options, ...database, disk })
  if (disk === null) removeFromDisk(path, remains)
  else if (remains.length > 0)
    onWarning(`${remains.length} files that belong to no push may remain where they were.`)
  const steps = createSteps({ ...database, onDue: () => undefined })
  const records = {
    ...createFileRecords({ ...options, steps }),
    ...createFileReaders({ ...options, isShared: disk === null }),
  }
  const bucket =
    settings === null || folder === null
      ? null
      : {
          settings,
          folder: {
            ...folder,
            isMarkedByOthers: () => database.read((session) => isMarkedByOthers(session, options.node)),
          },
        }
  const files = openFiles({ ...options, records, bucket, onStep: undefined })
  await confirm(files.confirmPlace, folder?.isShared ? (options.patience ?? MARK_MS) : 0)
  return files
}

async function confirm(confirmPlace: () => Promise<void>, patience: number): Promise<void> {
  const until = performance.now() + patience
  for (;;) {
    try {
      return await confirmPlace()
    } catch (cause) {
      if (!isDomainError(cause, 'conflict') || performance.now() >= until) throw cause
      await Bun.sleep(RETRY_MS)
    }
  }
}

/** Those of another folder are not there, which is no failure. */
function removeFromDisk(folder: string, ids: readonly string[]): void {
  for (const id of ids)
    for (const ending of ['', '.part'])
      rmSync(join(folder, id.slice(0, 2), `${id}${ending}`), { force: true })
}
