// One SQLite connection with the settings that the promises of Oncebox rest on.

import { Database } from 'bun:sqlite'
import { existsSync, statSync } from 'node:fs'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'
import { DomainError } from '../../../domain/errors.ts'
import { explainFailure } from '../../folder/sqlite-failures.ts'

export type Connection = {
  database: Database
  orm: BunSQLiteDatabase
  /** Finalizes every statement and closes, so that no write-ahead log stays behind. */
  close(): void
}

export type ConnectionOptions = {
  create: boolean
  /** Milliseconds to wait for another process's lock; 0 in the server, because a wait would block all requests. */
  busyTimeout: number
}

const CACHE_KIB = 32 * 1024
/** On a full disk the log has to fit into the database twice over within the reserve of disk-space.ts: so 8 MiB at most. */
const WAL_PAGES = 2000
const RESTORE = 'Restore the folder from a backup.'
/** A database has at least one page, and no page is smaller. */
const MIN_BYTES = 512

/** Throws a DomainError that names the file when it is not a database or cannot be opened. */
export function openConnection(path: string, options: ConnectionOptions): Connection {
  try {
    refuseRemnant(path)
    return open(path, options)
  } catch (cause) {
    throw explainFailure(path, cause)
  }
}

/** Refuses a file with less than a page, because SQLite would treat it as a new database. An empty file may be new. */
function refuseRemnant(path: string): void {
  const size = existsSync(path) ? statSync(path).size : 0
  if (size > 0 && size < MIN_BYTES)
    throw new DomainError(
      'conflict',
      `The database ${path} is damaged: only ${size} bytes of it are left. ${RESTORE}`,
    )
}

function open(path: string, { create, busyTimeout }: ConnectionOptions): Connection {
  const database = new Database(path, { readwrite: true, create, strict: true })
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeout}`)
    for (const pragma of pragmas()) database.run(`PRAGMA ${pragma}`)
  } catch (cause) {
    database.close()
    throw cause
  }
  return { database, orm: drizzle({ client: database }), close: () => database.close(true) }
}

/** A commit and a checkpoint wait until the disk has what they wrote. */
export const SYNCED = [
  'synchronous = FULL',
  ...(process.platform === 'darwin' ? ['fullfsync = ON', 'checkpoint_fullfsync = ON'] : []),
]

function pragmas(): string[] {
  return [
    'journal_mode = WAL',
    ...SYNCED,
    'foreign_keys = ON',
    'secure_delete = ON',
    'trusted_schema = OFF',
    'temp_store = MEMORY',
    `cache_size = -${CACHE_KIB}`,
    `wal_autocheckpoint = ${WAL_PAGES}`,
  ]
}
