// Files and their rows: an upload gets its row before its first byte is written, and files that are due are removed.

import { isDomainError } from '../../domain/errors.ts'
import type { Now } from '../../domain/time.ts'
import type { FileStore, OpenedFile, SealedFiles } from '../files-face.ts'
import { type DueFile, type FileRecords, TAKEN_MS } from './file-records.ts'

export type FileStoreOptions = {
  files: SealedFiles
  records: FileRecords
  /** Whether files that are removed are lost for those who read them. */
  keepsNothing: boolean
  now: Now
}

/** Few, so that one that fails holds up few others. */
const REMOVES_AT_ONCE = 10

/** `idle` resolves when no removal is running. */
export function createFileStore(options: FileStoreOptions): FileStore & { idle(): Promise<void> } {
  const { files, records, keepsNothing, now } = options

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

  async function idle(): Promise<void> {
    await removing.catch(() => undefined)
  }

  const open = keepsNothing ? openNoted : files.open
  return { keepFile, giveUpFile: records.giveUp, removeDue, findNextDue, open, has: files.has, idle }
}
