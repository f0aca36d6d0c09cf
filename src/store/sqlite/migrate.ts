// Brings a database to this version's schema, by `PRAGMA user_version`; all pending steps in one transaction.

import { Database } from 'bun:sqlite'
import { getTableConfig } from 'drizzle-orm/sqlite-core'
import { conflict, type DomainError } from '../../domain/errors.ts'
import { type DataFolder, explained } from '../folder/data-folder.ts'
import { writeWhole } from '../folder/durable-files.ts'
import firstIndexes from '../migrations/0001-indexes.sql' with { type: 'text' }
import firstTables from '../migrations/0001-sqlite.sql' with { type: 'text' }
import secondIndexes from '../migrations/0002-indexes.sql' with { type: 'text' }
import secondTables from '../migrations/0002-sqlite.sql' with { type: 'text' }
import * as tables from '../tables.ts'
import firstLinks from './migrations/0001-links.sql' with { type: 'text' }

/** A migration that was released never changes. */
export const MIGRATIONS: readonly string[] = [
  firstTables + firstIndexes + firstLinks,
  secondTables + secondIndexes,
]
/** The schema version that this program creates, and the newest that it opens. */
export const CURRENT_SCHEMA = MIGRATIONS.length

export function schemaVersion(database: Database): number {
  const row = database.query<{ user_version: number }, []>('PRAGMA user_version').get()
  return row?.user_version ?? 0
}

/**
 * Runs the pending migrations and checks the result; a failure leaves the database unchanged. Refuses a newer
 * schema.
 */
export function migrate(database: Database, migrations: readonly string[] = MIGRATIONS): void {
  refuseNewer(database, migrations)
  const pending = migrations.slice(schemaVersion(database))
  if (pending.length === 0) return
  // Otherwise, dropping a table that others refer to would delete their rows. The pragma does nothing within
  // a transaction.
  database.run('PRAGMA foreign_keys = OFF')
  try {
    // Not an immediate transaction, which would also lock attached databases: for a backup, that of the
    // running server.
    database.transaction(() => {
      for (const migration of pending) database.run(migration)
      const violations = database.query('PRAGMA foreign_key_check').all()
      if (violations.length > 0) throw new Error(`the migration would break ${violations.length} references`)
      database.run(`PRAGMA user_version = ${migrations.length}`)
    })()
  } finally {
    database.run('PRAGMA foreign_keys = ON')
  }
}

/**
 * Creates a new database with the rows of `fill`, atomically: another process sees all of it or no file.
 * SQLite itself would wait for the disk seven times.
 */
export function makeDatabase(folder: DataFolder, fill: (made: Database) => void = () => undefined): void {
  const made = new Database(':memory:', { strict: true })
  migrate(made)
  fill(made)
  const bytes = made.serialize()
  made.close(true)
  // The header bytes of a database with a WAL (https://sqlite.org/fileformat2.html, 1.3.3).
  bytes.fill(2, 18, 20)
  explained('write', folder.database, () => writeWhole(folder.database, bytes))
}

/**
 * Throws unless the schema is exactly this version's. Called by commands beside the server, which never
 * migrate.
 */
export function requireCurrentSchema(database: Database): void {
  refuseNewer(database, MIGRATIONS)
  if (schemaVersion(database) < MIGRATIONS.length) {
    const message = `${database.filename} was written by an older Oncebox. Start "oncebox serve" once to bring it up to date.`
    throw conflict(message)
  }
  requireOwnTables(database)
}

/** Throws if tables or columns differ by name from the schema, which SQLite itself does not check. */
export function requireOwnTables(database: Database): void {
  const columns = database.prepare<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  for (const table of Object.values(tables).map(getTableConfig)) {
    const found = columns.all(table.name).map(({ name }) => name)
    if (table.columns.every(({ name }) => found.includes(name))) continue
    const message = `The database ${database.filename} is damaged (its table ${table.name} has other columns).`
    throw conflict(`${message} Restore the folder from a backup.`)
  }
}

function refuseNewer(database: Database, migrations: readonly string[]): void {
  const version = schemaVersion(database)
  if (version > migrations.length) throw newerSchema(database.filename, { version, known: migrations.length })
}

/** Returns the refusal of a newer schema; `name` is that of the database. */
export function newerSchema(
  name: string,
  { version, known }: Record<'version' | 'known', number>,
): DomainError {
  const versions = `its schema is version ${version}, this Oncebox knows ${known}`
  return conflict(`${name} was written by a newer Oncebox (${versions}). Use that one.`)
}
