// Opens the sealed files for one serving process: in a folder of its disk, or in a bucket.

import type { Now } from '../../domain/time.ts'
import type { OnStep } from '../every-engine/durable-steps.ts'
import type { BucketReport, SealedFiles } from '../files-face.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import type { BucketFolder } from './bucket-folder.ts'
import type { FileRecords } from './file-records.ts'
import { createFileStore } from './file-store.ts'
import { createFiles } from './files.ts'

export type FilesOptions = {
  records: FileRecords
  /** The folder on the disk. */
  path: string
  /** The bucket, and the folder of this database there; null when the files are on the disk. */
  bucket: { settings: BucketOptions; folder: BucketFolder } | null
  now: Now
  onStep: OnStep | undefined
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

export function openFiles(options: FilesOptions) {
  const { records, now, onError } = options
  let isClosing = false
  const place = openPlace(options)
  const store = createFileStore({ files: place.sealed, records, now })

  /** Call this when a transaction has made files due. */
  function removeDue(): void {
    if (!isClosing) store.removeDue().catch(onError)
  }

  async function close(): Promise<void> {
    isClosing = true
    await store.idle()
    await place.idle()
  }

  return { ...place, store, removeDue, close }
}

type Place = {
  sealed: SealedFiles
  /** Null for a disk. */
  bucket: BucketReport | null
  /** Throws `conflict` when the bucket is not the one that holds the files. */
  confirmPlace(): Promise<void>
  idle(): Promise<void>
}

function openPlace({ path, bucket, onStep, onWarning }: FilesOptions): Place {
  if (bucket === null) return { ...ON_DISK, sealed: createFiles(path, onStep) }
  const { files, report, confirm, idle } = openBucket({ ...bucket.settings, ...bucket.folder, onWarning })
  return { sealed: files, bucket: report, confirmPlace: confirm, idle }
}

const ON_DISK: Omit<Place, 'sealed'> = {
  bucket: null,
  confirmPlace: async () => undefined,
  idle: async () => undefined,
}
