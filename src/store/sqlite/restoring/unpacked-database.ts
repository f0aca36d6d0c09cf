// The database of a backup once it lies in a folder of its own: opened, and believed only after it was looked at.
//
// It comes from outside. Its schema must be one that this program once made, to the letter, before anything else of it is
// read: a trigger or a view would run with every statement.

import { Database } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { DomainError } from '../../../domain/errors.ts'
import { LAST_TIME } from '../../../domain/time.ts'
import { explainFailure, isFull } from '../../folder/sqlite-failures.ts'
import type { Connection } from '../engine/database.ts'
import { MIGRATIONS, migrate, schemaVersion } from '../engine/migrate.ts'

/**
 * The tables that a backup fills. All others must be empty, those of later versions too: a table that opens something
 * must never come back because nobody thought of it.
 */
const FILLED: readonly string[] = [
  ...['instance', 'instance_keys', 'accounts', 'api_tokens', 'recovery_codes', 'message_templates'],
  ...['push_choices', 'pushes', 'push_state', 'push_labels', 'audit_entries', 'files_due', 'imported'],
]

const PRAGMAS = [
  // There is nothing to roll back to, and nothing to make durable yet: a copy that fails is deleted.
  'journal_mode = OFF',
  'synchronous = OFF',
  'trusted_schema = OFF',
  'cell_size_check = ON',
  'secure_delete = ON',
  'temp_store = MEMORY',
  'cache_size = -16384',
]

/** Rows that the disk of the server had altered before they were copied. */
const IN_ROWS = /^(CHECK constraint failed|NULL value|non-\w+ value|\w+ value) in /i
const MAX_FINDINGS = 1_000

/** `orphans`: rows that were removed, since the push or the account that they belong to is not there. */
export type Unpacked = { connection: Connection; orphans: number }

/**
 * Throws `conflict` for anything but an intact database of Oncebox that opens nothing, and for one that a newer version
 * made. `name` is told in refusals. Nothing else may write to the file.
 */
export function openUnpacked(path: string, name: string): Unpacked {
  try {
    const database = new Database(path, { readwrite: true, create: false, strict: true })
    try {
      for (const pragma of PRAGMAS) database.run(`PRAGMA ${pragma}`)
      requireKnownSchema(database, name)
      requireNothingThatOpens(database, name)
      requireStructure(database, name)
      const orphans = removeOrphans(database)
      const connection = { database, orm: drizzle({ client: database }), close: () => database.close(true) }
      return { connection, orphans }
    } catch (cause) {
      database.close()
      throw cause
    }
  } catch (cause) {
    throw explainUnpacked(cause, name)
  }
}

/** Brings it to the schema of this program, whose rows it has from then on. */
export function bringUpToDate({ database }: Connection, name: string): void {
  try {
    migrate(database)
  } catch (cause) {
    throw explainUnpacked(cause, name)
  }
}

/** A mark beyond every calendar cannot be told to anybody, and no server writes one. */
export function requirePlausibleClock({ database }: Pick<Connection, 'database'>, name: string): void {
  const beyond = database.query('SELECT 1 FROM instance WHERE clock_mark NOT BETWEEN 0 AND ?').get(LAST_TIME)
  if (beyond !== null) throw refuse(name, 'the time at which its server was last in use is none')
}

/** What SQLite says of the file is about the backup, unless the disk is full. Its remedy is not that of a data folder. */
export function explainUnpacked(cause: unknown, name: string): unknown {
  if (cause instanceof DomainError || isFull(cause) || explainFailure('', cause) === cause) return cause
  return refuse(name, `SQLite cannot read it (${cause instanceof Error ? cause.message : cause})`)
}

function refuse(name: string, why: string): DomainError {
  return new DomainError('conflict', `The database in ${name} cannot be restored: ${why}.`)
}

function requireKnownSchema(database: Database, name: string): void {
  const version = schemaVersion(database)
  if (version > MIGRATIONS.length) {
    const known = `its schema is version ${version}, this Oncebox knows ${MIGRATIONS.length}`
    throw refuse(name, `it was written by a newer Oncebox (${known}). Restore it with that one`)
  }
  const made = new Database(':memory:', { strict: true })
  try {
    migrate(made, MIGRATIONS.slice(0, version))
    const [expected, found] = [partsOf(made), partsOf(database)]
    if (version === 0 || expected.join('\n') !== found.join('\n'))
      throw refuse(name, 'its tables are not those of Oncebox')
  } finally {
    made.close()
  }
}

/** Leaves out no name: SQLite also runs a trigger whose name begins with `sqlite_`, once it stands in the schema. */
function partsOf(database: Database): string[] {
  return database
    .query<{ type: string; name: string; table: string; sql: string | null }, []>(
      'SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema',
    )
    .all()
    .map(({ type, name, table, sql }) => `${type} ${name} ${table} ${plainSql(sql ?? '')}`)
    .sort()
}

/** SQLite spells some names with quotation marks after a change, depending on its version. What is not a name keeps them. */
function plainSql(sql: string): string {
  return sql
    .replace(/"(\w+)"/g, '$1')
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),=<>]) ?/g, '$1')
}

function requireNothingThatOpens(database: Database, name: string): void {
  for (const table of tablesIn(database)) {
    if (FILLED.includes(table)) continue
    if (database.query(`SELECT 1 FROM ${table} LIMIT 1`).get() !== null)
      throw refuse(name, `its table ${table} is not empty, and could open what a backup must not open`)
  }
}

function tablesIn(database: Database): string[] {
  const tables = database.query<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  )
  return tables.all().map(({ name }) => name)
}

/** A backup of a damaged folder may have damaged indexes, which hold nothing that is not in the tables. */
function requireStructure(database: Database, name: string): void {
  if (findDamage(database) === undefined) return
  database.run('REINDEX')
  const damage = findDamage(database)
  if (damage !== undefined) throw refuse(name, `it is damaged (${damage.replaceAll('\n', ' ')})`)
}

function findDamage(database: Database): string | undefined {
  const found = database
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${MAX_FINDINGS})`)
    .all()
    .map(({ integrity_check: finding }) => finding)
  return found.find((finding) => finding !== 'ok' && !IN_ROWS.test(finding))
}

/**
 * A backup of a damaged folder may miss rows that others refer to. They belong to nothing, and no later version could migrate
 * them. Pushes of a missing account stay as those of nobody. Returns the number of rows.
 */
function removeOrphans(database: Database): number {
  if (database.query('PRAGMA foreign_key_check').get() === null) return 0
  let found = disownPushes(database)
  for (const table of tablesIn(database))
    for (const { from, parent, to } of referencesOf(database, table))
      found += database.run(
        `DELETE FROM ${table} WHERE ${from} IS NOT NULL AND ${isMissing({ from, parent, to })}`,
      ).changes
  return found
}

function disownPushes(database: Database): number {
  const isMissingOwner = isMissing({ from: 'owner_id', parent: 'accounts', to: 'id' })
  return database.run(`UPDATE pushes SET owner_id = NULL WHERE owner_id IS NOT NULL AND ${isMissingOwner}`)
    .changes
}

type Reference = { from: string; parent: string; to: string }

function referencesOf(database: Database, table: string): Reference[] {
  return database
    .query<Reference, [string]>('SELECT "from", "table" AS parent, "to" FROM pragma_foreign_key_list(?)')
    .all(table)
}

function isMissing({ from, parent, to }: Reference): string {
  return `${from} NOT IN (SELECT ${to} FROM ${parent})`
}
