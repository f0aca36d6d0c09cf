// One SQLite connection with the settings that the promises of Oncebox rest on.

import { Database, type Statement } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'

export type Connection = {
  database: Database
  orm: BunSQLiteDatabase
  /** Finalizes every statement and closes, so that no write-ahead log stays behind. */
  close(): void
}

export type ConnectionOptions = {
  create: boolean
  /** Milliseconds to wait for another process's lock: 0 in the server, where a wait would freeze everybody. */
  busyTimeout: number
}

const CACHE_KIB = 32 * 1024
const WAL_PAGES = 2000

export function openConnection(path: string, { create, busyTimeout }: ConnectionOptions): Connection {
  const database = new Database(path, { readwrite: true, create, strict: true })
  const finalizeAll = trackStatements(database)
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeout}`)
    for (const pragma of pragmas()) database.run(`PRAGMA ${pragma}`)
  } catch (cause) {
    database.close()
    throw cause
  }
  const close = () => {
    finalizeAll()
    database.close(true)
  }
  return { database, orm: drizzle({ client: database }), close }
}

function pragmas(): string[] {
  return [
    'journal_mode = WAL',
    'synchronous = FULL',
    ...(process.platform === 'darwin' ? ['fullfsync = ON', 'checkpoint_fullfsync = ON'] : []),
    'foreign_keys = ON',
    'secure_delete = ON',
    'trusted_schema = OFF',
    'temp_store = MEMORY',
    `cache_size = -${CACHE_KIB}`,
    `wal_autocheckpoint = ${WAL_PAGES}`,
  ]
}

/** drizzle keeps its prepared statements to itself; a live one would keep the log file from being removed. */
function trackStatements(database: Database): () => void {
  const statements: Statement[] = []
  const prepare = database.prepare.bind(database)
  database.prepare = ((...parameters: Parameters<typeof prepare>) => {
    const statement = prepare(...parameters)
    statements.push(statement)
    return statement
  }) as typeof prepare
  return () => {
    for (const statement of statements) statement.finalize()
  }
}
