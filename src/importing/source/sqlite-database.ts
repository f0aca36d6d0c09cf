// Reads the SQLite file of another server without writing a byte to it or beside it, its write-ahead log included.

import { Database } from 'bun:sqlite'
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { DomainError } from '../../domain/errors.ts'
import { codeOf } from '../../domain/system-errors.ts'
import type { Dialect, ForeignDatabase, Row } from './foreign-database.ts'

/** SQLITE_OPEN_READONLY and SQLITE_OPEN_URI. */
const READ_ONLY_URI = 0x01 | 0x40

const DIALECT: Dialect = {
  quote: (name) => `"${name}"`,
  text: (column) => column,
  columns: `SELECT tables.name AS "table", columns.name AS "column"
    FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'`,
}

/** Throws `conflict` naming the file and what helps. */
export function openSqliteDatabase(named: string): ForeignDatabase {
  // The log lies beside the file itself, not beside a link to it.
  const path = existsSync(named) ? realpathSync(named) : named
  let database = openForeignDatabase(path)

  async function read(sql: string): Promise<Row[]> {
    try {
      using statement = database.prepare<Row, []>(sql)
      return statement.all()
    } catch (cause) {
      throw explain(path, cause)
    }
  }

  return {
    name: path,
    dialect: DIALECT,
    read,
    findOthers: async () => (existsSync(`${path}-shm`) ? [isOpen(path)] : []),
    leaveMoment: async () => {
      const former = database
      database = reopen(path) ?? former
      if (database !== former) former.close()
    },
    close: async () => database.close(),
  }
}

/** Null where root has become a user who may not open it: then nothing can be told. */
function reopen(path: string): Database | null {
  try {
    return openForeignDatabase(path)
  } catch {
    return null
  }
}

function isOpen(path: string): string {
  return (
    `Beside the database lies ${path}-shm: the old server seems to run, or has crashed. Stop it before the import, ` +
    'because views that it counts from now on are not known here.'
  )
}

function openForeignDatabase(path: string): Database {
  if (sizeOf(path) === null) throw refusal(`There is no file ${path}.`)
  if (!statSync(path).isFile()) throw refusal(`${path} is no file: name the database itself.`)
  if ((sizeOf(`${path}-journal`) ?? 0) > 0) {
    const remedy = 'Start the old server once and stop it in order, or restore the database from a backup.'
    throw refusal(`The database ${path} was left in the middle of a change (${path}-journal). ${remedy}`)
  }
  try {
    return (sizeOf(`${path}-wal`) ?? 0) > 0 ? openWithLog(path) : openAlone(path)
  } catch (cause) {
    throw explain(path, cause)
  }
}

/** What SQLite says of another server's file, as a matter for the operator. */
function explain(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error) || !codeOf(cause).startsWith('SQLITE_')) return cause
  return refusal(`Cannot read the database ${path}: ${cause.message}. Nothing was imported.`)
}

/** Takes the file as it is, without locks: there is no log that belongs to it. */
function openAlone(path: string): Database {
  return checked(new Database(uriOf(path, 'immutable=1'), READ_ONLY_URI))
}

/**
 * With a log. Exclusive mode keeps the index of the log in memory, where SQLite would otherwise write it beside the
 * database; it needs a lock for that, which a file that is open for reading cannot have, so no locks are taken at all.
 */
function openWithLog(path: string): Database {
  const vfs = process.platform === 'win32' ? 'win32-none' : 'unix-none'
  const database = new Database(uriOf(path, `mode=ro&vfs=${vfs}`), READ_ONLY_URI)
  database.run('PRAGMA locking_mode = EXCLUSIVE')
  return checked(database)
}

/** Reads the first page, so that what is no database is refused here. What SQLite sorts stays off the disk. */
function checked(database: Database): Database {
  try {
    database.run('PRAGMA temp_store = MEMORY')
    database.run('PRAGMA trusted_schema = OFF')
    database.query('SELECT count(*) FROM sqlite_schema').get()
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

function uriOf(path: string, options: string): string {
  return `${Bun.pathToFileURL(path).href}?${options}`
}

function sizeOf(path: string): number | null {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? null : statSync(path).size
}

function refusal(message: string): DomainError {
  return new DomainError('conflict', message)
}
