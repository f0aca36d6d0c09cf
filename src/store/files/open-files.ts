// Files and their rows, for one serving process: an upload gets its row before its first byte is written, and files that are due are
// removed. The files are in a folder of its disk, or in a bucket.

import { nameBucket } from '../../domain/bucket-place.ts'
import { isDomainError } from '../../domain/errors.ts'
import type { Now } from '../../domain/time.ts'
import type { OnStep } from '../every-engine/durable-steps.ts'
import type { FileStore, OpenedFile, SealedFiles } from '../files-face.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import type { Steps } from '../steps.ts'
import { createDiskFiles } from './disk.ts'
import { type FilePlace, settleFilePlace } from './file-place.ts'
import { createFileRecords, type DueFile, TAKEN_MS } from './file-records.ts'

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
  const { path, bucket, onStep, onError } = options
  const disk = createDiskFiles(path, onStep)
  const openFolder = (tag: string) => bucket && openBucket({ ...options, ...bucket, tag })
  const tag = await settleFilePlace({
    ...options,
    place: placeOf(options),
    holds: async (tag, id) => (await openFolder(tag)?.files.open(id)) != null,
  })
  const opened = openFolder(tag)
  const { idle, ...store } = createFileStore(opened?.files ?? disk, { ...options, isNoted: opened !== null })
  let isClosing = false

  /** Call this when a transaction has made files due. */
  function removeDue(): void {
    if (!isClosing) store.removeDue().catch(onError)
  }

  async function close(): Promise<void> {
    isClosing = true
    await idle()
  }

  /** `bucket`: null for a disk. */
  return { store, bucket: opened?.report ?? null, removeDue, close }
}

function placeOf({ node, address, bucket }: FilesOptions): FilePlace {
  if (bucket === null) return { isUsed: false, mark: Buffer.from(node).toString('hex'), address }
  const name = nameBucket(bucket.place)
  return { isUsed: true, mark: name, address: `the bucket ${name}` }
}

/** Few, so that one that fails holds up few others. */
const REMOVES_AT_ONCE = 10

/** `isNoted`: who reads a file is noted, because it would be lost for them when it is removed. */
type StoreOptions = Pick<FilesOptions, 'steps' | 'node' | 'now'> & { isNoted: boolean }

/** `idle` resolves when no removal is running. */
function createFileStore(
  files: SealedFiles,
  options: StoreOptions,
): FileStore & { idle(): Promise<unknown> } {
  const { isNoted, now } = options
  const records = createFileRecords(options)
  let removing: Promise<number> = Promise.resolve(0)
  let restUntil = Number.NEGATIVE_INFINITY

  async function keepFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await records.begin(id)
    await files.put(id, bytes)
  }

  function removeDue(): Promise<number> {
    removing = removing.catch(() => 0).then(removeAll)
    return removing
  }

  /** Removes each file before its row: after a crash between the two the next run finds the row again. */
  async function removeAll(): Promise<number> {
    let removed = 0
    for (;;) {
      const due = isResting() ? [] : await records.takeDue(REMOVES_AT_ONCE)
      if (due.length === 0) return removed
      removed += await removeSome(due)
    }
  }

  /** Resolves to the number of those that are gone. The others are due again after a minute. */
  async function removeSome(due: readonly DueFile[]): Promise<number> {
    const free = due.flatMap(({ id, isRead }) => (isRead ? [] : id))
    const outcomes = await Promise.allSettled(free.map(files.remove))
    const gone = free.filter((_, n) => outcomes[n]?.status === 'fulfilled')
    if (gone.length > 0) await records.forget(gone)
    for (const outcome of outcomes) if (outcome.status === 'rejected') rest(outcome.reason)
    return gone.length
  }

  /** While the files cannot be reached, which the operator is told elsewhere, nothing is tried for a while. */
  function rest(cause: unknown): void {
    if (!isDomainError(cause, 'files_unreachable')) throw cause
    restUntil = performance.now() + TAKEN_MS
  }

  const isResting = () => performance.now() < restUntil

  async function findNextDue(): Promise<number | null> {
    const next = await records.findNextDue()
    return next === null || !isResting() ? next : Math.max(next, now() + restUntil - performance.now())
  }

  /** Noted before the first byte is read, so that no removal comes between. */
  async function openNoted(id: string): Promise<OpenedFile | null> {
    const end = await records.noteReading(id)
    const file = await files.open(id).catch((cause) => {
      end()
      throw cause
    })
    if (file === null) end()
    return file && { ...file, close: () => file.close().finally(end) }
  }

  const idle = () => removing.catch(() => 0)
  const open = isNoted ? openNoted : files.open
  return { keepFile, giveUpFile: records.giveUp, removeDue, findNextDue, open, has: files.has, idle }
}
