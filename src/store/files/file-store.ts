// Files as the services see them: kept with a row that says so, and removed when that row is due.

import type { FileHandle } from 'node:fs/promises'
import type { Now } from '../../domain/time.ts'
import type { Transact } from '../sqlite/engine/group-commit.ts'
import type { FileRows } from '../sqlite/pushes/file-rows.ts'
import type { Files } from './files.ts'

export type FileStore = ReturnType<typeof createFileStore>

export type FileStoreOptions = { files: Files; rows: FileRows; transact: Transact; now: Now }

export function createFileStore({ files, rows, transact, now }: FileStoreOptions) {
  let removing: Promise<number> | null = null

  /** Durable when it resolves; until a push takes it, the file is an unfinished upload. */
  async function keepFile(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await transact(() => rows.begin(id), { grows: true })
    await files.putFile(id, bytes)
  }

  /** For an upload that no push took. */
  function giveUpFile(id: string): Promise<void> {
    return transact(() => rows.giveUp({ id, now: now() }))
  }

  /** Unlinks what is due; returns how many. A second call joins the run under way, then looks once more. */
  function removeDue(): Promise<number> {
    const before = removing ?? Promise.resolve(0)
    const run = before.catch(() => 0).then(removeAll)
    removing = run
    return run
  }

  /** The file goes before its row, so that a crash between the two is made good by the next run. */
  async function removeAll(): Promise<number> {
    let removed = 0
    for (;;) {
      const due = rows.listDue(now())
      if (due.length === 0) return removed
      for (const id of due) await files.removeFile(id)
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
    findNextDue: rows.findNextDue,
    idle,
    openFile: (id: string): Promise<FileHandle | null> => files.openFile(id),
  }
}
