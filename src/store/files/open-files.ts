// Files and their rows, for one serving process: an upload gets its row before its first byte is written, and
// files that are due are removed. The files are in a folder of its disk, or in a bucket.

import { nameBucket } from '../../domain/bucket-place.ts'
import { isDomainError } from '../../domain/errors.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import type { FileStore, SealedFiles } from '../files-contract.ts'
import { enterUpload } from '../pushes/file-rows.ts'
import { type BucketOptions, openBucket } from '../s3/bucket.ts'
import { locked, select, statement } from '../statements.ts'
import { all, first, isThere, run, type Step, type Steps } from '../steps.ts'
import { filesDue } from '../tables.ts'
import { createDiskFiles } from './disk.ts'
import { enterFileLocation, type FileLocation } from './file-location.ts'

type FilesOptions = {
  steps: Steps
  /** The id of this process among those that serve the database. */
  node: Uint8Array
  /** The folder on the disk; `address` names it in messages. */
  path: string
  address: string
  /** The bucket; null when the files are on the disk. */
  bucket: BucketOptions | null
  /** Resolves to the name of another process that serves the database now; null if there is none. */
  findOther(): Promise<string | null>
  now: Now
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

/** Throws `conflict` when files are needed in another location. */
export async function openFiles(options: FilesOptions) {
  const { path, bucket, onError } = options
  const disk = createDiskFiles(path)
  const openFolder = (tag: string) => bucket && openBucket({ ...options, ...bucket, tag })
  const tag = await enterFileLocation({
    ...options,
    location: locationOf(options),
    holds: async (other, id) => (await openFolder(other)?.files.open(id)) != null,
  })
  const opened = openFolder(tag)
  const { idle, ...store } = createFileStore(opened?.files ?? disk, options)
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

function locationOf({ node, address, bucket }: FilesOptions): FileLocation {
  if (bucket === null) return { isBucket: false, mark: Buffer.from(node).toString('hex'), address }
  const name = nameBucket(bucket.place)
  return { isBucket: true, mark: name, address: `the bucket ${name}` }
}

/** How many files are removed in one batch. Few, because one failure delays its whole batch. */
const REMOVES_AT_ONCE = 10

type StoreOptions = Pick<FilesOptions, 'steps' | 'node' | 'now'>

/** `idle` resolves when no removal is running. */
function createFileStore(
  files: SealedFiles,
  options: StoreOptions,
): FileStore & { idle(): Promise<unknown> } {
  const { now } = options
  const records = createFileRecords(options)
  let removing: Promise<number> = Promise.resolve(0)
  let restUntil = Number.NEGATIVE_INFINITY

  async function keepFile(id: string, bytes: AsyncIterable<Uint8Array>, isEntered = false): Promise<void> {
    if (!isEntered) await records.begin(id)
    await files.put(id, bytes)
  }

  function removeDue(): Promise<number> {
    removing = removing.catch(() => 0).then(removeAll)
    return removing
  }

  /**
   * Removes each file before its row, so that after a crash between the two the next run finds the row again.
   */
  async function removeAll(): Promise<number> {
    let removed = 0
    for (;;) {
      const due = isResting() ? [] : await records.takeDue(REMOVES_AT_ONCE)
      if (due.length === 0) return removed
      removed += await removeSome(due)
    }
  }

  /** Resolves to the number of removed files. The others are retried after a minute. */
  async function removeSome(due: readonly string[]): Promise<number> {
    const outcomes = await Promise.allSettled(due.map(files.remove))
    const gone = due.filter((_, n) => outcomes[n]?.status === 'fulfilled')
    if (gone.length > 0) await records.forget(gone)
    for (const outcome of outcomes) if (outcome.status === 'rejected') rest(outcome.reason)
    return gone.length
  }

  /** Pauses removals while the files cannot be reached, which the health checks report. */
  function rest(cause: unknown): void {
    if (!isDomainError(cause, 'files_unreachable')) throw cause
    restUntil = performance.now() + TAKEN_MS
  }

  const isResting = () => performance.now() < restUntil

  async function findNextDue(): Promise<number | null> {
    const next = await records.findNextDue()
    return next === null || !isResting() ? next : Math.max(next, now() + restUntil - performance.now())
  }

  const idle = () => removing.catch(() => 0)
  const { open, has } = files
  return { keepFile, giveUpFile: records.giveUp, removeDue, findNextDue, open, has, idle }
}

/** The lease on a file that is due: after it, any node may retry the removal. */
const TAKEN_MS = MINUTE
const GROWS = { grows: true }

// Makes a file due. Does nothing if a push has taken it, even if this node does not know that, because the
// answer was lost.
const GIVE_UP = statement('UPDATE files_due SET at = $2, node = NULL WHERE id = $1')
const NEXT = select(filesDue, 'WHERE at IS NOT NULL ORDER BY at LIMIT 1')
const DUE = locked(select(filesDue, 'WHERE at <= $1 ORDER BY at LIMIT $2'), 'FOR UPDATE SKIP LOCKED')
const TAKE = statement('UPDATE files_due SET at = $2, push_id = NULL WHERE id = $1')
const FORGET = statement('DELETE FROM files_due WHERE id = $1')

const AT_WORK = statement<{ node: Uint8Array }>('SELECT DISTINCT node FROM files_due WHERE node IS NOT NULL')
const GIVE_UP_OF_NODE = statement('UPDATE files_due SET at = $2, node = NULL WHERE node = $1')

/** The rows of files in the database. */
function createFileRecords({ steps: { read, write }, node, now }: StoreOptions) {
  /**
   * Steps to retry, for example because the database did not answer. While this node lives, no other node
   * does them.
   */
  const unwritten = new Set<() => Step<void>>()

  async function surely(step: () => Step<void>): Promise<void> {
    unwritten.add(step)
    await write(step)
    unwritten.delete(step)
  }

  function* take(most: number): Step<string[]> {
    const due = (yield* all(DUE, now(), most)).map(({ id }) => id)
    for (const id of due) yield* run(TAKE, id, now() + TAKEN_MS)
    return due
  }

  /**
   * Leases some due files. Reads first, because most calls find nothing, and even an empty transaction is
   * written to the disk.
   */
  async function takeDue(most: number): Promise<string[]> {
    for (const step of unwritten) await surely(step)
    const next = await findNextDue()
    return next === null || next > now() ? [] : write(() => take(most))
  }

  async function findNextDue(): Promise<number | null> {
    return (await read(() => first(NEXT), isThere))?.at ?? null
  }

  async function forget(ids: readonly string[]): Promise<void> {
    await write(function* () {
      for (const id of ids) yield* run(FORGET, id)
    })
  }

  return {
    /** Enters an upload, before its first byte is written. Throws `disk_full`. */
    begin: (id: string): Promise<void> => write(() => enterUpload(id, node), GROWS),
    /** Makes the file of an upload due for removal, because no push takes it. */
    giveUp: (id: string): Promise<void> => surely(() => run(GIVE_UP, id, now())),
    /** Leases some files that are due to this caller. */
    takeDue,
    /** Resolves to when the next file is due, which may be in the past; null if none is. */
    findNextDue,
    /** Deletes the rows of files that were removed. */
    forget,
  }
}

/** Makes the unfinished uploads of dead nodes due. */
export function* giveUpAbandoned(isAlive: (node: Uint8Array) => boolean, now: number): Step<void> {
  for (const { node } of yield* all(AT_WORK)) {
    if (!isAlive(node)) yield* run(GIVE_UP_OF_NODE, node, now)
  }
}
