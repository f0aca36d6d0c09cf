// Files and their rows: an upload gets its row before its first byte is written, and files that are due are removed.

import type { Now } from '../../domain/time.ts'
import type { FileStore, SealedFiles } from '../files-face.ts'
import type { Transact } from '../sqlite/engine/group-commit.ts'
import type { FileRows } from '../sqlite/pushes/file-rows.ts'

export type FileStoreOptions = { files: SealedFiles; rows: FileRows; transact: Transact; now: Now }

/** `idle` resolves when no removal is running. */
export function createFileStore(options: FileStoreOptions): FileStore & { idle(): Promise<void> } {
  const { files, rows, transact, now } = options

  let removing: Promise<number> | null = null

  async function keepFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await transact(() => rows.begin(id), { grows: true })
    await files.put(id, bytes)
  }

  function giveUpFile(id: string): Promise<void> {
    return transact(() => rows.giveUp({ id, now: now() }))
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
      const due = rows.listDue(now())
      if (due.length === 0) return removed
      for (const id of due) await files.remove(id)
      await transact(() => due.forEach(rows.forget))
      removed += due.length
    }
  }

  async function idle(): Promise<void> {
    await removing?.catch(() => undefined)
  }

  return {
    keepFile,
    giveUpFile,
    removeDue,
    findNextDue: async () => rows.findNextDue(),
    open: files.open,
    has: files.has,
    idle,
  }
}
