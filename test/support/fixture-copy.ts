// The real data of a Password Pusher, copied into another database, or into another time.

import { Database } from 'bun:sqlite'
import { FIXTURE_DATABASE } from './fixture.ts'
import type { Sink, SourceRow, Value } from './password-pusher-sinks.ts'

const TABLES = [
  'users',
  'pushes',
  'audit_logs',
  'active_storage_blobs',
  'active_storage_attachments',
] as const
const FLAGS = /^(admin|expired|deletable_by_viewer|retrieval_step|otp_required_for_login)$/
const TIMES = /^(created_at|updated_at|expired_on|confirmed_at|locked_at)$/

/** Copies the fixture. Every time becomes `later` milliseconds later, and stays exact to the microsecond. */
export async function copyFixture(sink: Sink, later = 0): Promise<void> {
  const fixture = new Database(`${Bun.pathToFileURL(FIXTURE_DATABASE).href}?immutable=1`, 0x01 | 0x40)
  for (const table of TABLES) {
    const columns: readonly string[] = COLUMNS[table]
    for (const row of fixture.query<SourceRow, []>(`SELECT * FROM ${table} ORDER BY id`).all()) {
      const kept = columns.map((name) => [name, writtenAs(name, row[name] ?? null, later)] as const)
      sink.insert(table, Object.fromEntries(kept))
    }
  }
  fixture.close()
  await sink.flush()
}

/** The columns of the tables in the tests. */
const COLUMNS = {
  users: [
    ...['id', 'email', 'encrypted_password', 'authentication_token', 'admin', 'otp_required_for_login'],
    ...['otp_secret_ciphertext', 'last_otp_timestep', 'locked_at', 'confirmed_at', 'created_at'],
  ],
  pushes: [
    ...['id', 'kind', 'url_token', 'payload_ciphertext', 'passphrase_ciphertext', 'note_ciphertext', 'name'],
    ...['expire_after_days', 'expire_after_views', 'expired', 'expired_on', 'deletable_by_viewer'],
    ...['retrieval_step', 'user_id', 'created_at', 'updated_at'],
  ],
  audit_logs: [
    ...['id', 'push_id', 'user_id', 'ip', 'user_agent', 'referrer', 'kind', 'created_at', 'updated_at'],
  ],
  active_storage_blobs: [
    ...['id', 'key', 'filename', 'content_type', 'metadata', 'byte_size', 'checksum', 'service_name'],
    'created_at',
  ],
  active_storage_attachments: ['id', 'name', 'record_type', 'record_id', 'blob_id', 'created_at'],
} as const

function writtenAs(name: string, value: Value, later: number): Value {
  if (value === null) return null
  if (FLAGS.test(name)) return Boolean(value)
  if (name === 'last_otp_timestep') return Number(value) + Math.floor(later / 30_000)
  return TIMES.test(name) ? shifted(String(value), later) : value
}

function shifted(time: string, later: number): string {
  const at = Date.parse(`${time.slice(0, 23).replace(' ', 'T')}Z`) + later
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')}${time.slice(23)}`
}
