// One SQLite connection with the settings that the promises of Oncebox rest on.

import { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'

export type OpenOptions = {
  create: boolean
  /**
   * Milliseconds to wait for another process's lock; 0 in the server, because a wait would block all
   * requests.
   */
  busyTimeout: number
}

const CACHE_KIB = 8 * 1024
/**
 * On a full disk the log has to fit into the database twice over within the reserve of disk-space.ts: so 8
 * MiB at most.
 */
const WAL_PAGES = 2000
const RESTORE = 'Restore the folder from a backup.'
/** A database has at least one page, and no page is smaller. */
const MIN_BYTES = 512

/**
 * Throws a DomainError that names the file when it is not a database or cannot be opened. Close it by
 * `close(true)`: this finalizes every statement, so that no write-ahead log stays behind.
 */
export function openDatabase(path: string, options: OpenOptions): Database {
  try {
    refuseRemnant(path)
    return open(path, options)
  } catch (cause) {
    throw explainFailure(path, cause)
  }
}

/**
 * Refuses a file with less than a page, because SQLite would treat it as a new database. An empty file may be
 * new.
 */
function refuseRemnant(path: string): void {
  const size = existsSync(path) ? statSync(path).size : 0
  if (size > 0 && size < MIN_BYTES)
    throw conflict(`The database ${path} is damaged: only ${size} bytes of it are left. ${RESTORE}`)
}

function open(path: string, { create, busyTimeout }: OpenOptions): Database {
  const database = new Database(path, { readwrite: true, create, strict: true })
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeout}`)
    for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`)
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

/** A commit and a checkpoint wait until the disk has what they wrote. */
export const SYNCED = [
  'synchronous = FULL',
  ...(process.platform === 'darwin' ? ['fullfsync = ON', 'checkpoint_fullfsync = ON'] : []),
]

const PRAGMAS = [
  'journal_mode = WAL',
  ...SYNCED,
  'foreign_keys = ON',
  'secure_delete = ON',
  'trusted_schema = OFF',
  'temp_store = MEMORY',
  `cache_size = -${CACHE_KIB}`,
  `wal_autocheckpoint = ${WAL_PAGES}`,
]

/** Checking takes about five milliseconds for each MiB. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/**
 * Throws when the database is damaged in its structure. A large one is not checked: starting must not take
 * minutes.
 */
export function requireIntact(database: Database, most = MAX_CHECKED_BYTES): void {
  const pages = database.query<{ page_count: number }, []>('PRAGMA page_count').get()?.page_count ?? 0
  const pageBytes = database.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
  if (isCutOff(database.filename, pageBytes)) throw damaged(database, 'it ends within a page')
  if (pages * pageBytes > most) return
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  if (found === null || found.integrity_check === 'ok') return
  throw damaged(database, found.integrity_check.replaceAll('\n', ' '))
}

/**
 * SQLite reads the missing end of a page as zeros. While its write-ahead log holds pages, the file may be
 * unfinished.
 */
function isCutOff(path: string, pageBytes: number): boolean {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return sizeOf(`${path}-wal`) === 0 && sizeOf(path) % Math.max(1, pageBytes) !== 0
}

function damaged({ filename }: Database, damage: string): DomainError {
  const remedy = 'Restore it from a backup; nothing of it was changed.'
  return conflict(`The database ${filename} is damaged (${damage}). ${remedy}`)
}
