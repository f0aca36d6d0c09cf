// Opens a data folder for a move, which nobody else uses meanwhile.

import { rmSync } from 'node:fs'
import type { DataFolder } from '../../folder/data-folder.ts'
import { type FolderLock, lockFolder } from '../../folder/folder-lock.ts'
import { explainFailure } from '../../folder/sqlite-failures.ts'
import { type Connection, openConnection } from '../../sqlite/engine/database.ts'

const BUSY_MS = 5_000

type OnWarning = (warning: string) => void

/** Neither servers nor account commands change anything until it is released. */
export function lockForMove(folder: DataFolder, onWarning: OnWarning): Promise<FolderLock> {
  const onWait = (holder: string) => onWarning(`${folder.path} is in use: waiting for ${holder} to end`)
  return lockFolder(folder, { onWait, isMove: true })
}

/** The work keeps the lock, unless it throws. */
export async function openLocked<T>(
  folder: DataFolder,
  onWarning: OnWarning,
  work: (lock: FolderLock) => T | Promise<T>,
): Promise<T> {
  const lock = await lockForMove(folder, onWarning)
  try {
    return await work(lock)
  } catch (cause) {
    lock.release()
    throw explainFailure(folder.database, cause)
  }
}

/** Closes the connection again when the check throws. */
export function openChecked(
  { database }: DataFolder,
  { create }: { create: boolean },
  check: (connection: Connection) => void,
): Connection {
  const connection = openConnection(database, { create, busyTimeout: BUSY_MS })
  try {
    check(connection)
    return connection
  } catch (cause) {
    connection.close()
    throw cause
  }
}

/** Runs work on the database of a folder, and closes it. */
export async function withDatabase<T>(
  { database }: DataFolder,
  work: (connection: Connection) => T | Promise<T>,
): Promise<T> {
  const connection = openConnection(database, { create: false, busyTimeout: BUSY_MS })
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}

export function removeDatabase({ database }: DataFolder): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(database + ending, { force: true })
}
