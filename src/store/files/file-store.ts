// Files and their rows: an upload gets its row before its first byte is written, and files that are due are removed.

import { isDomainError } from '../../domain/errors.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import type { FileStore, OpenedFile, SealedFiles } from '../files-face.ts'
import type { FileRecords } from './file-records.ts'

export type FileStoreOptions = {
  files: SealedFiles
  records: FileRecords
  now: Now
}

/** A file that could not be removed is tried again after this long. */
const RETRY_MS = MINUTE
/** Few, so that one that fails holds up few others. */
const REMOVES_AT_ONCE = 10

/** `idle` resolves when no removal is running. */
export function createFileStore(options: FileStoreOptions): FileStore & { idle(): Promise<void> } {
  const { files, records, now } = options

  let removing: Promise<number> | null = null
  let restUntil = Number.NEGATIVE_INFINITY

  async function keepFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await records.begin(id)
    await files.put(id, bytes)
  }

  function removeDue(): Promise<number> {
    const before = removing ?? Promise.resolve(0)
    const run = before.catch(() => 0).then(removeAll)
    removing = run
    return run
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

  /** Resolves to the number of those that are gone. What is read is left for later. */
  async function removeSome(ids: readonly string[]): Promise<number> {
    const read = await records.findReadElsewhere(ids)
    const outcomes = await Promise.allSettled(ids.map(async (id) => !read.has(id) && files.remove(id)))
    const isGone = (n: number) => outcomes[n]?.status === 'fulfilled' && outcomes[n].value
    const gone = ids.filter((_, n) => isGone(n))
    await records.settle({ gone, left: ids.filter((_, n) => !isGone(n)), at: now() + RETRY_MS })
    for (const outcome of outcomes) if (outcome.status === 'rejected') rest(outcome.reason)
    return gone.length
  }

  /** While the files cannot be reached, which the operator is told elsewhere, nothing is tried for a while. */
  function rest(cause: unknown): void {
    if (!isDomainError(cause, 'files_unreachable')) throw cause
    restUntil = performance.now() + RETRY_MS
  }

  function isResting(): boolean {
    return performance.now() < restUntil
  }

  async function findNextDue(): Promise<number | null> {
    const next = await records.findNextDue()
    return next === null || !isResting() ? next : Math.max(next, now() + restUntil - performance.now())
  }

  async function open(id: string): Promise<OpenedFile | null> {
    const noteEnd = await records.noteReading(id)
    const file = await files.open(id).catch(async (cause) => {
      await noteEnd()
      throw cause
    })
    if (file === null) {
      await noteEnd()
      return null
    }
    return { ...file, close: () => file.close().finally(noteEnd) }
  }

  async function idle(): Promise<void> {
    await removing?.catch(() => undefined)
  }

  return {
    keepFile,
    giveUpFile: records.giveUp,
    removeDue,
    findNextDue,
    open,
    has: files.has,
    idle,
  }
}
