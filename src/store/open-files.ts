// Opens the sealed files of a data folder for the one serving process.

import type { Now } from '../domain/time.ts'
import { createFileStore } from './files/file-store.ts'
import { createFiles } from './files/files.ts'
import type { OnStep } from './sqlite/engine/batch.ts'
import type { Connection } from './sqlite/engine/database.ts'
import type { Transact } from './sqlite/engine/group-commit.ts'
import { createFileRows } from './sqlite/pushes/file-rows.ts'

export type FilesOptions = {
  connection: Connection
  path: string
  /** The time by which files are removed. */
  certain: Now
  transact: Transact
  onStep: OnStep | undefined
  onError: (cause: unknown) => void
}

/** Opens the sealed files. When a transaction makes files due, they are removed right after it. */
export function openFiles(options: FilesOptions) {
  const { connection, path, certain, transact, onStep, onError } = options
  let isClosing = false
  const rows = createFileRows(connection, { certain, onDue: () => setImmediate(removeDue) })
  const folder = createFiles(path, onStep)
  const store = createFileStore({ files: folder, rows, transact, now: certain })
  rows.giveUpUnfinished(certain())

  function removeDue(): void {
    if (!isClosing) store.removeDue().catch(onError)
  }

  async function close(): Promise<void> {
    isClosing = true
    await store.idle()
  }

  return { rows, folder, store, close }
}
