// One SQLite connection, with the settings on which the guarantees of Oncebox depend.

import { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'

export type ConnectionOptions = {
  create: boolean
  /**
   * Milliseconds to wait for another process's lock; 0 in the server, because a wait would block all
   * requests.
   */
  busyTimeout: number
}

const CACHE_KIB = 8 * 1024
/**
 * The size of the WAL at which a checkpoint runs, 8 MiB: on a full disk twice its size must fit into the
 * reserve of disk-space.ts.
 */
const WAL_PAGES = 2000
const RESTORE = 'Restore the folder from a backup.'
/** The minimum size of a page, and so of a database. */
const MIN_BYTES = 512

/**
 * Opens the database. Throws a DomainError that names the file if it is not a database or cannot be opened.
 * Close it with `close(true)`, which finalizes every statement, so that no WAL is left behind.
 */
export function openDatabase(path: string, options: ConnectionOptions): Database {
  try {
    refuseRemnant(path)
    return open(path, options)
  } catch (cause) {
    throw explainFailure(path, cause)
  }
}

/**
 * Refuses a file that is shorter than a page, because SQLite would treat it as a new database. An empty file
 * may be new.
 */
function refuseRemnant(path: string): void {
  const size = existsSync(path) ? statSync(path).size : 0
  if (size > 0 && size < MIN_BYTES)
    throw conflict(`The database ${path} is damaged: only ${size} bytes of it are left. ${RESTORE}`)
}

function open(path: string, { create, busyTimeout }: ConnectionOptions): Database {
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

/** Settings with which commits and checkpoints wait for the disk. */
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

/** The largest database that is checked, at about five milliseconds for each MiB. */
const MAX_CHECKED_BYTES = 64 * 1024 * 1024

/**
 * Throws if the structure of the database is damaged. Skips a large one, because a start must not take
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
 * Whether the file ends in the middle of a page, the rest of which SQLite would read as zeros. Ignored while
 * the WAL has pages, because then the file may be incomplete.
 */
function isCutOff(path: string, pageBytes: number): boolean {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return sizeOf(`${path}-wal`) === 0 && sizeOf(path) % Math.max(1, pageBytes) !== 0
}

function damaged({ filename }: Database, damage: string): DomainError {
  const remedy = 'Restore it from a backup; nothing of it was changed.'
  return conflict(`The database ${filename} is damaged (${damage}). ${remedy}`)
}
