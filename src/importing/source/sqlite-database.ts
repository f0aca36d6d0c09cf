// Reads the SQLite file of another server without writing a byte to it or beside it, its write-ahead log
// included.

import { Database } from 'bun:sqlite'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { conflict } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import type { ForeignDatabase, Row } from './foreign-database.ts'

/** SQLITE_OPEN_READONLY and SQLITE_OPEN_URI. */
const READ_ONLY_URI = 0x01 | 0x40

/** Opens the file. Throws `conflict` that names it and the remedy. */
export function openSqliteDatabase(named: string): ForeignDatabase {
  // Look for the WAL beside the file itself, not beside a symlink to it.
  const path = existsSync(named) ? realpathSync(named) : named
  requireWhole(path)
  const database = explained(path, () => connect(path))
  return {
    name: path,
    textType: 'text',
    columns: `SELECT tables.name AS "table", columns.name AS "column"
      FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
    read: async (sql) =>
      explained(path, () => {
        using statement = database.prepare<Row, []>(sql)
        return statement.all()
      }),
    findOthers: async () => (existsSync(`${path}-shm`) ? `Beside the database lies ${path}-shm` : null),
    close: async () => database.close(),
  }
}

function requireWhole(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw conflict(`There is no file ${path}.`)
  if (!found.isFile()) throw conflict(`${path} is no file: name the database itself.`)
  if (!holdsBytes(`${path}-journal`)) return
  const remedy = 'Start the old server once and stop it in order, or restore the database from a backup.'
  throw conflict(`The database ${path} was left in the middle of a change (${path}-journal). ${remedy}`)
}

/**
 * Opens the database read-only. If there is no WAL, opens it as immutable. If there is one, uses exclusive
 * mode, which keeps the WAL index in memory; SQLite would otherwise write it beside the database. Exclusive
 * mode needs a lock, which is not possible on a read-only file, so the VFS takes no locks.
 */
function connect(path: string): Database {
  const vfs = process.platform === 'win32' ? 'win32-none' : 'unix-none'
  const how = holdsBytes(`${path}-wal`) ? `mode=ro&vfs=${vfs}` : 'immutable=1'
  using closing = new DisposableStack()
  const database = closing.use(new Database(`${Bun.pathToFileURL(path).href}?${how}`, READ_ONLY_URI))
  database.run('PRAGMA locking_mode = EXCLUSIVE')
  // Keep SQLite's temporary data off the disk.
  database.run('PRAGMA temp_store = MEMORY')
  database.run('PRAGMA trusted_schema = OFF')
  // Read the first page, to refuse a file that is not a database.
  database.query('SELECT count(*) FROM sqlite_schema').get()
  closing.move()
  return database
}

/** Turns an error of SQLite about another server's file into a message for the operator. */
function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof Error) || !codeOf(cause).startsWith('SQLITE_')) throw cause
    throw conflict(`Cannot read the database ${path}: ${cause.message}. Nothing was imported.`)
  }
}

function holdsBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}
