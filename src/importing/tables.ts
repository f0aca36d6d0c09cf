// The tables of a Password Pusher 2.x, as far as they are read, and whether a database has them.

import type { Database } from 'bun:sqlite'
import { DomainError } from '../domain/errors.ts'

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
    needed: ['id', 'key', 'filename', 'content_type', 'byte_size', 'checksum', 'service_name'],
    optional: [],
  },
} as const satisfies Record<string, Columns>

export type TableName = keyof typeof TABLES

/** Lists the columns of a table for a SELECT, with NULL for optional ones that this version has not. */
export type Select = (table: TableName) => string

/** Throws `conflict` when this is no database of a Password Pusher 2.x. */
export function requireTables(database: Database, path: string) {
  const named = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
  const tables = new Set(named.all().map(({ name }) => name))
  if (!tables.has('pushes')) throw refuseTables(tables, path)
  const found = new Map<TableName, string>()
  for (const [table, columns] of Object.entries(TABLES) as [TableName, Columns][]) {
    if (!tables.has(table)) throw refusal(path, `it has no table ${table}`)
    found.set(table, selectOf(columnsOf(database, table), { table, columns, path }))
  }
  const version = versionOf(database, tables)
  const select: Select = (table) => found.get(table) ?? ''
  const hasConfirmations = columnsOf(database, 'users').has('confirmed_at')
  return { version, isNewer: version > NEWEST_KNOWN, select, hasConfirmations }
}

function selectOf(
  present: ReadonlySet<string>,
  { table, columns, path }: { table: TableName; columns: Columns; path: string },
): string {
  const missing = columns.needed.filter((name) => !present.has(name))
  if (missing.length > 0) throw refusal(path, `its table ${table} has no ${missing.join(', ')}`)
  const optional = columns.optional.map((name) =>
    present.has(name) ? `${table}.${name}` : `NULL AS ${name}`,
  )
  return [...columns.needed.map((name) => `${table}.${name}`), ...optional].join(', ')
}

function columnsOf(database: Database, table: string): Set<string> {
  const columns = database.query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
  return new Set(columns.all(table).map(({ name }) => name))
}

function versionOf(database: Database, tables: ReadonlySet<string>): string {
  if (!tables.has('schema_migrations')) return 'unknown'
  const newest = database.query<{ version: unknown }, []>(
    'SELECT max(version) AS version FROM schema_migrations',
  )
  return String(newest.get()?.version ?? 'unknown')
}

function refuseTables(tables: ReadonlySet<string>, path: string): DomainError {
  const isOld = ['passwords', 'urls', 'file_pushes'].some((name) => tables.has(name))
  return isOld
    ? refusal(path, 'it is of version 1; upgrade that server to 2.x first, start it once, and stop it')
    : refusal(path, 'it has no table pushes')
}

function refusal(path: string, reason: string): DomainError {
  return new DomainError(
    'conflict',
    `${path} is no database of a Password Pusher 2.x: ${reason}. Nothing was imported.`,
  )
}
