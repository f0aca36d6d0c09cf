// Opens the sealed files for the one serving process: in the data folder, or in a bucket.

import type { Job } from '../domain/job.ts'
import type { Now } from '../domain/time.ts'
import { settleFilePlace } from './file-place.ts'
import { createFileStore } from './files/file-store.ts'
import { createFiles } from './files/files.ts'
import type { BucketReport, SealedFiles } from './files-face.ts'
import { type BucketSettings, openBucket } from './s3/bucket.ts'
import type { OnStep } from './sqlite/engine/batch.ts'
import type { Connection } from './sqlite/engine/database.ts'
import type { Transact } from './sqlite/engine/group-commit.ts'
import { createFileRows, type FileRows } from './sqlite/pushes/file-rows.ts'

export type FilesOptions = {
  connection: Connection
  path: string
  /** Null when the files are in the data folder. */
  bucket: BucketSettings | null
  /** The time by which files are removed. */
  certain: Now
  transact: Transact
  onStep: OnStep | undefined
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

/**
 * Opens the sealed files. When a transaction makes files due, they are removed right after it. Throws `conflict` when pushes
 * have files in the other place.
 */
export function openFiles(options: FilesOptions) {
  const { connection, certain, transact, onError } = options
  let isClosing = false
  const rows = createFileRows(connection, { certain, onDue: () => setImmediate(removeDue) })
  const place = openPlace(rows, options)
  const store = createFileStore({ files: place.sealed, rows, transact, now: certain })
  rows.giveUpUnfinished(certain())

  function removeDue(): void {
    if (!isClosing) store.removeDue().catch(onError)
  }

  async function close(): Promise<void> {
    isClosing = true
    await store.idle()
    await place.idle()
  }

  return { ...place, rows, store, close }
}

type Place = {
  sealed: SealedFiles
  /** Null for a disk. */
  bucket: BucketReport | null
  jobs: readonly Job[]
  /** Throws `conflict` when the bucket is not the one that holds the files. */
  confirmPlace(): Promise<void>
  idle(): Promise<void>
}

function openPlace(rows: FileRows, options: FilesOptions): Place {
  const { path, bucket: settings, certain, onStep, onWarning } = options
  const folder = settleFilePlace({ ...options, rows, wantsBucket: settings !== null, now: certain() })
  if (folder === null || settings === null) return { ...ON_DISK, sealed: createFiles(path, onStep) }
  const { files, report, job, confirm, idle } = openBucket({
    ...settings,
    ...folder,
    findKnown: rows.findKnown,
    onWarning,
  })
  return { sealed: files, bucket: report, jobs: [job], confirmPlace: confirm, idle }
}

const ON_DISK: Omit<Place, 'sealed'> = {
  bucket: null,
  jobs: [],
  confirmPlace: async () => undefined,
  idle: async () => undefined,
}
