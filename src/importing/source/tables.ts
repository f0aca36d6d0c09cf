// The tables of a Password Pusher 2.x, as far as they are read, and whether a database has them.

import { conflict } from '../../domain/errors.ts'
import type { ForeignDatabase } from './foreign-database.ts'

/** The newest version whose tables are known. */
const NEWEST_KNOWN = '20260509010000'
const UNKNOWN = 'unknown'

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
      ...['locked_at', 'confirmed_at', 'preferred_language'],
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

/** Tables of version 1. Version 1.56 moves their rows to `pushes`, and 2.0 drops them. */
const TABLES_OF_1 = ['passwords', 'urls', 'file_pushes']
const IS_OF_1 =
  'it is of version 1; upgrade that server to 2.x first, by way of 1.56, start it once each time, and stop it'

export type Tables = Awaited<ReturnType<typeof requireTables>>

/** Throws `conflict` unless this is a database of Password Pusher 2.x. `version` is that of the schema. */
export async function requireTables(database: ForeignDatabase) {
  const present = new Set<string>()
  for (const { table, column } of await database.read(database.columns))
    present.add(String(table)).add(`${table}.${column}`)
  const fault = present.size === 0 ? 'it has no tables, or none that may be read' : faultOf(present)
  if (fault !== null)
    throw conflict(
      `${database.name} is no database of a Password Pusher 2.x: ${fault}. Nothing was imported.`,
    )
  const columnsOf = (table: keyof typeof TABLES) =>
    [...TABLES[table].needed, ...TABLES[table].optional].filter((name) => present.has(`${table}.${name}`))
  /** Lists the columns of a table for a SELECT, as texts, without optional ones that this version lacks. */
  const select = (table: keyof typeof TABLES) =>
    columnsOf(table)
      .map((name) => `CAST(${table}."${name}" AS ${database.textType}) AS "${name}"`)
      .join(', ')
  const version = present.has('schema_migrations') ? await versionOf(database) : UNKNOWN
  /** The sealed columns of pushes. */
  const sealed = columnsOf('pushes').filter((name) => name.endsWith('_ciphertext'))
  return { version, isNewer: version !== UNKNOWN && version > NEWEST_KNOWN, sealed, select }
}

function faultOf(present: ReadonlySet<string>): string | null {
  if (TABLES_OF_1.some((table) => present.has(table))) return IS_OF_1
  for (const [table, { needed }] of Object.entries(TABLES)) {
    if (!present.has(table)) return `it has no table ${table}`
    const missing = needed.filter((name) => !present.has(`${table}.${name}`))
    if (missing.length > 0) return `its table ${table} has no ${missing.join(', ')}`
  }
  return null
}

async function versionOf(database: ForeignDatabase): Promise<string> {
  const [newest] = await database.read('SELECT max(version) AS version FROM schema_migrations')
  return String(newest?.version ?? UNKNOWN)
}
