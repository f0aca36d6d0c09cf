// A copy of the database as it was before a migration, for the case that the new version does not work out. It opens
// nothing: what opens a push, and sessions and one-time links, are not in it, and in it all pushes have ended.

import { Database } from 'bun:sqlite'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type DataFolder, isCopy, syncFolder } from '../../folder/data-folder.ts'
import { isFull } from './refusals.ts'

const MIB = 1024 * 1024

/**
 * The tables whose rows are copied. All others stay empty, those of later versions too: a table that opens something must
 * never get into a copy because nobody thought of it.
 */
const COPIED = [
  ...['instance', 'instance_keys', 'accounts', 'api_tokens', 'recovery_codes'],
  ...['pushes', 'push_labels', 'audit_entries', 'files_due'],
]

export type MigrationCopyOptions = {
  folder: DataFolder
  /** The schema of the database as it is. */
  version: number
  now: number
  /** Bytes of the disk that are left free. */
  minFreeSpace: number
  onWarning: (warning: string) => void
}

/** Returns the name of the copy; null when the disk has no room for it, which is told. Takes its time: for a start only. */
export function copyBeforeMigration(options: MigrationCopyOptions): string | null {
  const { folder, version, onWarning } = options
  const name = `before-update-from-${version}.db`
  const path = join(folder.path, name)
  if (!copyWithoutKeys({ ...options, name })) return tellOfNoRoom(onWarning)
  onWarning(
    `The database as it was before this update is kept until the next start: ${path} (it opens no push)`,
  )
  return name
}

export type CopyOptions = Omit<MigrationCopyOptions, 'onWarning'> & { name: string }

/** Whole or not at all, under `name` in the folder; false when the disk has no room for it. */
export function copyWithoutKeys(options: CopyOptions): boolean {
  const { folder, version, now, name } = options
  const path = join(folder.path, name)
  const unfinished = `${path}.part`
  rmSync(unfinished, { force: true })
  if (!hasRoom(options)) return false
  try {
    closeSync(openSync(unfinished, 'wx', 0o600))
    writeCopy(unfinished, { source: folder.database, version, now })
    synchronize(unfinished)
    renameSync(unfinished, path)
    syncFolder(folder.path)
    return true
  } catch (cause) {
    rmSync(unfinished, { force: true })
    if (isFull(cause)) return false
    throw cause
  }
}

/** Deletes the copies of earlier starts, and what a start that was killed has left of one. */
export function removeOldCopies(folder: DataFolder, made: string | null): void {
  for (const name of readdirSync(folder.path))
    if (isCopy(name) && name !== made) rmSync(join(folder.path, name), { force: true })
}

/** The migration may need as much again as the copy. */
function hasRoom({ folder, minFreeSpace }: CopyOptions): boolean {
  const log = `${folder.database}-wal`
  const bytes = statSync(folder.database).size + (existsSync(log) ? statSync(log).size : 0)
  const { bavail, bsize } = statfsSync(folder.path)
  const free = bavail * bsize
  return free - bytes >= minFreeSpace && free >= 2 * bytes + MIB
}

function tellOfNoRoom(onWarning: (warning: string) => void): null {
  onWarning('The disk has no room for a copy of the database before this update: going on without one.')
  return null
}

type Copying = { source: string; version: number; now: number }

function writeCopy(path: string, { source, version, now }: Copying): void {
  const copy = new Database(path, { readwrite: true, create: false, strict: true })
  try {
    for (const pragma of PRAGMAS) copy.run(`PRAGMA ${pragma}`)
    copy.run('ATTACH ? AS source', [source])
    copy.transaction(() => copyTables(copy, now))()
    copy.run(`PRAGMA user_version = ${version}`)
  } finally {
    copy.close(true)
  }
}

const PRAGMAS = [
  // There is nothing to roll back to: what fails is deleted.
  'journal_mode = OFF',
  'foreign_keys = OFF',
  'trusted_schema = OFF',
  'temp_store = MEMORY',
  'busy_timeout = 5000',
  // What the disk has altered is copied as it is.
  'ignore_check_constraints = ON',
]

function copyTables(copy: Database, now: number): void {
  for (const { sql } of partsOf(copy, "type = 'table'")) copy.run(sql)
  const tables = partsOf(copy, "type = 'table'").map(({ name }) => name)
  for (const table of tables.filter((name) => COPIED.includes(name)))
    copy.run(`INSERT INTO main.${table} SELECT * FROM source.${table}`)
  keepIds(copy)
  endPushes(copy, now)
  if (tables.includes('files_due'))
    copy.run('INSERT OR IGNORE INTO main.files_due (id, at) SELECT file_id, ? FROM source.push_files', [now])
  for (const { sql } of partsOf(copy, "type <> 'table'")) copy.run(sql)
}

/** Tables, and what comes after their rows: indexes and triggers. */
function partsOf(copy: Database, where: string): { name: string; sql: string }[] {
  const parts = copy.query<{ name: string; sql: string }, []>(
    `SELECT name, sql FROM source.sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND ${where}`,
  )
  return parts.all()
}

/** The ids that were used last. */
function keepIds(copy: Database): void {
  const isKept =
    copy.query("SELECT 1 FROM source.sqlite_schema WHERE name = 'sqlite_sequence'").get() !== null
  if (!isKept) return
  copy.run('DELETE FROM main.sqlite_sequence')
  copy.run('INSERT INTO main.sqlite_sequence SELECT * FROM source.sqlite_sequence')
}

/** Without what opens them they would be taken for damaged. A row without a checksum is taken as it is. */
function endPushes(copy: Database, now: number): void {
  const columns = copy.query<{ name: string }, []>("SELECT name FROM pragma_table_info('pushes')").all()
  const unsummed = columns.some(({ name }) => name === 'checksum') ? ', checksum = NULL' : ''
  copy.run(`UPDATE main.pushes SET expired_on = min(?, expires_at)${unsummed} WHERE expired_on IS NULL`, [
    now,
  ])
}

function synchronize(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}
