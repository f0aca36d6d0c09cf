// Opens the sealed files for one serving process: in a folder of its disk, or in a bucket.

import { nameBucket } from '../../domain/bucket-place.ts'
import type { Now } from '../../domain/time.ts'
import type { OnStep } from '../every-engine/durable-steps.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import type { Steps } from '../steps.ts'
import { createDiskFiles } from './disk.ts'
import { type FilePlace, settleFilePlace } from './file-place.ts'
import { createFileRecords } from './file-records.ts'
import { createFileStore } from './file-store.ts'

export type FilesOptions = {
  steps: Steps
  /** The id of this process among those that serve the database. */
  node: Uint8Array
  /** The folder on the disk, and what people call it. */
  path: string
  address: string
  /** Null when the files are on the disk. */
  bucket: BucketOptions | null
  /** Another process that serves the database now; null when there is none. */
  findOther(): Promise<string | null>
  now: Now
  onStep?: OnStep | undefined
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

/** Throws `conflict` when files are needed in another place. */
export async function openFiles(options: FilesOptions) {
  const { path, bucket, now, onStep, onError } = options
  const disk = createDiskFiles(path, onStep)
  const openFolder = (tag: string) => bucket && openBucket({ ...options, ...bucket, tag })
  const tag = await settleFilePlace({
    ...options,
    place: placeOf(options),
    now: now(),
    holds: async (tag, id) => (await openFolder(tag)?.files.open(id)) != null,
    removeFromDisk: disk.remove,
  })
  const opened = openFolder(tag)
  const files = opened?.files ?? disk
  const store = createFileStore({
    files,
    records: createFileRecords(options),
    keepsNothing: opened !== null,
    now,
  })
  let isClosing = false

  /** Call this when a transaction has made files due. */
  function removeDue(): void {
    if (!isClosing) store.removeDue().catch(onError)
  }

  async function close(): Promise<void> {
    isClosing = true
    await store.idle()
  }

  /** `bucket`: null for a disk. */
  return { store, bucket: opened?.report ?? null, removeDue, close }
}

function placeOf({ node, address, bucket }: FilesOptions): FilePlace {
  if (bucket === null) return { isUsed: false, mark: Buffer.from(node).toString('hex'), address }
  const name = nameBucket(bucket.place)
  return { isUsed: true, mark: name, address: `the bucket ${name}` }
}
