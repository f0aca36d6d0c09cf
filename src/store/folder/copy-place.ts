// The file in the data folder that a copy of the database is made in for a backup. It loses its name as soon as it is open,
// so that nothing is left of it when the process ends, whatever ends it.

import { closeSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DataFolder } from './data-folder.ts'

const NAME = /^backup-copy-\d+\.db\.part$/

export type CopyPlace = {
  path: string
  /** Open for reading, as long as the place is not closed. */
  descriptor: number
  /** Takes the name away once somebody else has opened the path. Windows cannot, and removes it when it is closed. */
  hide(): void
  close(): void
}

/** Only while the folder is being opened (`whileOpening`): no other process takes it for a left-over then. */
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

/** Only while the folder is being opened. What another process still works on stays where the system refuses to remove it. */
export function removeCopyPlaces(folder: DataFolder): void {
  for (const name of readdirSync(folder.path).filter((name) => NAME.test(name))) {
    try {
      rmSync(join(folder.path, name), { force: true })
    } catch (cause) {
      if (process.platform !== 'win32') throw cause
    }
  }
}
