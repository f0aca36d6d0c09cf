// The tables of a Password Pusher 2.x, as far as they are read, and whether a database has them.

import { DomainError } from '../../domain/errors.ts'
import type { ForeignDatabase } from './foreign-database.ts'

/** The newest version whose tables are known. */
const NEWEST_KNOWN = '20260509010000'

type Columns = { needed: readonly string[]; optional: readonly string[] }

const TABLES = {
  pushes: {
    needed: [
      ...['id', 'kind', 'url_token', 'payload_ciphertext', 'passphrase_ciphertext', 'created_at'],
      ...['expire_after_days', 'expire_after_views', 'expired', 'expired_on'],
      ...['deletable_by_viewer', 'retrieval_step', 'user_id'],
    ],
    optional: ['name', 'note_ciphertext', 'updated_at'],
  },
  audit_logs: {
    needed: ['id', 'push_id', 'kind', 'ip', 'user_agent', 'referrer', 'created_at'],
    optional: [],
  },
  users: {
    needed: ['id', 'email', 'encrypted_password', 'authentication_token', 'created_at'],
    optional: [
      ...['admin', 'otp_required_for_login', 'otp_secret_ciphertext', 'last_otp_timestep'],
      ...['locked_at', 'confirmed_at'],
    ],
  },
  active_storage_attachments: {
    needed: ['id', 'record_type', 'record_id', 'name', 'blob_id'],
    optional: [],
  },
  active_storage_blobs: {
    needed: ['key', 'filename', 'content_type', 'byte_size', 'checksum', 'service_name'],
    optional: [],
  },
} as const satisfies Record<string, Columns>

/** Version 1.56 moves their rows to `pushes`, and 2.0 drops them. */
const TABLES_OF_1 = ['passwords', 'urls', 'file_pushes']

export type TableName = keyof typeof TABLES

/** Lists the columns of a table for a SELECT, with NULL for optional ones that this version has not. */
export type Select = (table: TableName) => string

/** Throws `conflict` when this is no database of a Password Pusher 2.x. */
export async function requireTables(database: ForeignDatabase) {
  const { name } = database
  const tables = await readTables(database)
  if (!tables.has('pushes')) throw refuseTables(tables, name)
  const found = new Map<TableName, string>()
  for (const [table, columns] of Object.entries(TABLES) as [TableName, Columns][]) {
    const present = tables.get(table)
    if (present === undefined) throw refusal(name, `it has no table ${table}`)
    found.set(table, selectOf(present, { table, columns, database }))
  }
  const version = await versionOf(database, tables)
  const select: Select = (table) => found.get(table) ?? ''
  const leftBehind = await countLeftBehind(database, tables)
  const has = (table: TableName, column: string) => tables.get(table)?.has(column) === true
  return { version, isNewer: version > NEWEST_KNOWN, leftBehind, select, has }
}

/** The columns of each table that can be seen. */
async function readTables(database: ForeignDatabase): Promise<Map<string, Set<string>>> {
  const tables = new Map<string, Set<string>>()
  for (const row of await database.read(database.dialect.columns)) {
    const columns = tables.get(String(row.table)) ?? new Set()
    tables.set(String(row.table), columns.add(String(row.column)))
  }
  return tables
}

function selectOf(
  present: ReadonlySet<string>,
  { table, columns, database }: { table: TableName; columns: Columns; database: ForeignDatabase },
): string {
  const { quote, text } = database.dialect
  const missing = columns.needed.filter((name) => !present.has(name))
  if (missing.length > 0) throw refusal(database.name, `its table ${table} has no ${missing.join(', ')}`)
  return [...columns.needed, ...columns.optional]
    .map((name) => `${present.has(name) ? text(`${table}.${quote(name)}`) : 'NULL'} AS ${quote(name)}`)
    .join(', ')
}

async function versionOf(database: ForeignDatabase, tables: ReadonlyMap<string, unknown>): Promise<string> {
  if (!tables.has('schema_migrations')) return 'unknown'
  const [newest] = await database.read('SELECT max(version) AS version FROM schema_migrations')
  return String(newest?.version ?? 'unknown')
}

/** Pushes that an upgrade has not moved from the tables of version 1 yet. */
async function countLeftBehind(database: ForeignDatabase, tables: ReadonlyMap<string, Set<string>>) {
  let left = 0
  for (const table of TABLES_OF_1.filter((table) => tables.get(table)?.has('url_token') === true)) {
    const moved = `SELECT 1 FROM pushes WHERE pushes.url_token = ${table}.url_token`
    const [row] = await database.read(`SELECT count(*) AS number FROM ${table} WHERE NOT EXISTS (${moved})`)
    left += Number(row?.number)
  }
  return left
}

function refuseTables(tables: ReadonlyMap<string, unknown>, name: string): DomainError {
  if (TABLES_OF_1.some((table) => tables.has(table))) {
    const way = 'upgrade that server to 2.x first, by way of 1.56, start it once each time, and stop it'
    return refusal(name, `it is of version 1; ${way}`)
  }
  return refusal(
    name,
    tables.size === 0 ? 'it has no tables, or none that may be read' : 'it has no table pushes',
  )
}

function refusal(name: string, reason: string): DomainError {
  return new DomainError(
    'conflict',
    `${name} is no database of a Password Pusher 2.x: ${reason}. Nothing was imported.`,
  )
}
