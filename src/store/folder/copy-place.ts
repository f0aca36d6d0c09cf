// The temporary file in the data folder for a backup's copy of the database. Its name is removed as soon as it is open, so
// that the system removes the file when the process ends, even by kill -9.

import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DataFolder } from './data-folder.ts'

const NAME = /^backup-copy-\d+\.db\.part$/

export type CopyPlace = {
  path: string
  /** Open for reading until `close`. */
  descriptor: number
  /** Removes the name. Call it once SQLite has opened the path. On Windows the file keeps its name until `close`. */
  hide(): void
  close(): void
}

/** Call it within `whileOpening`, so that no other process removes the file as a left-over. */
export function createCopyPlace(folder: DataFolder): CopyPlace {
  removeCopyPlaces(folder)
  const path = join(folder.path, `backup-copy-${process.pid}.db.part`)
  const descriptor = openSync(path, 'wx+', 0o600)
  const remove = () => rmSync(path, { force: true })

  function hide(): void {
    if (process.platform !== 'win32') remove()
  }

  function close(): void {
    closeSync(descriptor)
    remove()
  }

  return { path, descriptor, hide, close }
}

/** Removes what killed backups have left. Call it within `whileOpening`. Windows keeps files that are in use. */
export function removeCopyPlaces(folder: DataFolder): void {
  for (const name of readdirSync(folder.path).filter((name) => NAME.test(name))) {
    try {
      rmSync(join(folder.path, name), { force: true })
    } catch (cause) {
      if (process.platform !== 'win32') throw cause
    }
  }
}
