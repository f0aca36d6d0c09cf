// A copy of the database as it was before a migration, for the case that the new version does not work out.
// It opens nothing: what opens a push, and sessions and one-time links, are not in it, and in it all pushes
// have ended.

import { closeSync, existsSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { conflict } from '../../domain/errors.ts'
import { type DataFolder, isCopy } from '../folder/data-folder.ts'
import { freeBytes } from '../folder/disk-space.ts'
import { syncFile, syncFolder } from '../folder/durable-files.ts'
import { besideServer } from '../folder/folder-lock.ts'
import { isFull } from '../folder/sqlite-failures.ts'
import { openDatabase } from './database.ts'
import { openKeylessCopy } from './keyless-copy.ts'

const MIB = 1024 * 1024

export type MigrationCopyOptions = {
  folder: DataFolder
  /** The schema of the database as it is. */
  version: number
  now: number
  /** Bytes of the disk that are left free. */
  minFreeSpace: number
  onWarning: (warning: string) => void
}

/**
 * Returns the name of the copy; null, after a warning, when the disk has no room for it. Takes its time: for
 * a start only.
 */
export function copyBeforeMigration(options: MigrationCopyOptions): string | null {
  const { folder, version, onWarning } = options
  const name = copyName(version)
  const path = join(folder.path, name)
  if (!copyWithoutKeys(options, path)) {
    onWarning('The disk has no room for a copy of the database before this update: going on without one.')
    return null
  }
  onWarning(
    `The database as it was before this update is kept until the next start: ${path} (it opens no push)`,
  )
  return name
}

/** `version`: the schema of the database that was copied. */
export function copyName(version: number): string {
  return `before-update-from-${version}.db`
}

/** Whole or not at all; false when the disk has no room for it. */
function copyWithoutKeys(options: MigrationCopyOptions, path: string): boolean {
  const { folder, now } = options
  const unfinished = `${path}.part`
  rmSync(unfinished, { force: true })
  if (!hasRoom(options)) return false
  try {
    closeSync(openSync(unfinished, 'wx', 0o600))
    writeCopy(unfinished, { source: folder.database, now })
    syncFile(unfinished)
    renameSync(unfinished, path)
    syncFolder(folder.path)
    return true
  } catch (cause) {
    rmSync(unfinished, { force: true })
    if (isFull(cause)) return false
    throw cause
  }
}

/**
 * Puts the copy in the place of the database. Throws `conflict`, and changes nothing, while a server holds
 * the folder.
 */
export function putCopyBack(folder: DataFolder, version: number): void {
  besideServer(folder, (isServed) => {
    if (isServed)
      throw conflict(
        `A server runs on ${folder.path}, and its database has to be replaced. Stop it, and repeat this. Nothing was changed.`,
      )
    // Moves its log into it, which SQLite would apply to the copy otherwise.
    openDatabase(folder.database, { create: false, busyTimeout: 0 }).close(true)
    for (const end of ['-wal', '-shm']) rmSync(`${folder.database}${end}`, { force: true })
    renameSync(join(folder.path, copyName(version)), folder.database)
    // The copy has no mark, and is at home where there is none.
    for (const path of [folder.home, folder.serving]) rmSync(path, { force: true })
    syncFolder(folder.path)
  })
}

/** Deletes the copies of earlier starts, and what a start that was killed has left of one. */
export function removeOldCopies(folder: DataFolder, made: string | null): void {
  for (const name of readdirSync(folder.path))
    if (isCopy(name) && name !== made) rmSync(join(folder.path, name), { force: true })
}

/** The migration may need as much again as the copy. */
function hasRoom({ folder, minFreeSpace }: MigrationCopyOptions): boolean {
  const log = `${folder.database}-wal`
  const bytes = statSync(folder.database).size + (existsSync(log) ? statSync(log).size : 0)
  const free = freeBytes(folder.path)
  return free - bytes >= minFreeSpace && free >= 2 * bytes + MIB
}

/** The files of the pushes are due, and stay in the same folder of a bucket. */
function writeCopy(path: string, { source, now }: { source: string; now: number }): void {
  const { database, write } = openKeylessCopy({ source, path, keepsLinks: true })
  try {
    write({ isServed: false })
    database.run('UPDATE main.pushes SET expired_on = min(?, expires_at) WHERE expired_on IS NULL', [now])
    database.run('INSERT INTO main.bucket_folder SELECT * FROM source.bucket_folder')
    database.run('INSERT INTO main.files_due SELECT * FROM source.files_due')
    database.run('INSERT OR IGNORE INTO main.files_due (id, at) SELECT file_id, ? FROM source.push_files', [
      now,
    ])
  } finally {
    database.close()
  }
}
