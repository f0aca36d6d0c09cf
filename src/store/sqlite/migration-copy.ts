// A copy of the database from before a migration, in case that the new version fails. It gives access to
// nothing: it contains no secrets of pushes, sessions or one-time links, and all its pushes have ended.

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
  /** The present schema version of the database. */
  version: number
  now: number
  /** Bytes of the disk that are left free. */
  minFreeSpace: number
  onWarning: (warning: string) => void
}

/**
 * Copies the database before a migration. Returns the name of the copy; null, after a warning, when the disk
 * has no room for it. Slow, so for a start only.
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

/** Returns the name of a copy; `version` is the schema of the copied database. */
export function copyName(version: number): string {
  return `before-update-from-${version}.db`
}

/** Makes the copy atomically. Returns false if the disk has no room for it. */
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
 * Replaces the database by the copy. Throws `conflict`, without changing anything, while a server holds the
 * folder.
 */
export function putCopyBack(folder: DataFolder, version: number): void {
  besideServer(folder, (isServed) => {
    if (isServed)
      throw conflict(
        `A server runs on ${folder.path}, and its database has to be replaced. Stop it, and repeat this. Nothing was changed.`,
      )
    // Checkpoint the WAL of the old database, because SQLite would apply it to the copy.
    openDatabase(folder.database, { create: false, busyTimeout: 0 }).close(true)
    for (const end of ['-wal', '-shm']) rmSync(`${folder.database}${end}`, { force: true })
    renameSync(join(folder.path, copyName(version)), folder.database)
    // The copy has no mark, so remove the file's mark too: a pair without marks is accepted.
    for (const path of [folder.home, folder.serving]) rmSync(path, { force: true })
    syncFolder(folder.path)
  })
}

/** Deletes the copies of earlier starts, and leftovers of a killed one. */
export function removeOldCopies(folder: DataFolder, made: string | null): void {
  for (const name of readdirSync(folder.path))
    if (isCopy(name) && name !== made) rmSync(join(folder.path, name), { force: true })
}

/** Returns whether the disk has room for the copy, and for the migration, which may need as much again. */
function hasRoom({ folder, minFreeSpace }: MigrationCopyOptions): boolean {
  const log = `${folder.database}-wal`
  const bytes = statSync(folder.database).size + (existsSync(log) ? statSync(log).size : 0)
  const free = freeBytes(folder.path)
  return free - bytes >= minFreeSpace && free >= 2 * bytes + MIB
}

/** Writes the copy: with the name of the folder in a bucket, and all files of pushes due for removal. */
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
