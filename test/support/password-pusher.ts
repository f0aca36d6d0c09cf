// Writes databases and storage folders as a Password Pusher 2.x does, after the description of its data.

import { createCipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseServer } from './database-servers.ts'
import { type SourceRow, serverSink, sqliteSink } from './password-pusher-sinks.ts'

export type SourceUser = {
  id: number
  email: string
  encryptedPassword?: string
  token?: string | null
  admin?: boolean
  otpSecret?: string | null
  lastStep?: number | null
  lockedAt?: number | null
  confirmedAt?: number | null
  language?: string
}

export type SourceFile = {
  key: string
  filename: string
  contentType?: string
  content: Uint8Array
  service?: string
  isMissing?: boolean
}

export type SourcePush = {
  id: number
  urlToken: string
  kind?: number
  payload?: string | null
  passphrase?: string | null
  note?: string | null
  name?: string | null
  userId?: number | null
  days?: number
  views?: number
  expired?: boolean
  expiredOn?: number | null
  deletable?: boolean | null
  step?: boolean
  createdAt: number
  entries?: { kind: number; at: number; ip?: string; userAgent?: string; referrer?: string | null }[]
  files?: SourceFile[]
  /** The key that seals its values, if it is not the current one. */
  masterKey?: string
}

export const MASTER_KEY = '00112233445566778899aabbccddeeff'.repeat(2)

export function lockbox(text: string | null, place: { table: string; column: string; masterKey: string }) {
  if (text === null || text === '') return text
  const info = Buffer.concat([Buffer.alloc(32, 0xb4), Buffer.from(place.column)])
  const key = hkdfSync('sha384', Buffer.from(place.masterKey, 'hex'), place.table, info, 32)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(key), nonce)
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return sealed.toString('base64')
}

const time = (at: number | null | undefined) =>
  at == null ? null : new Date(at).toISOString().replace('T', ' ').replace('Z', '123')

export type Written = Awaited<ReturnType<typeof writeSource>>

export type WriteOptions = {
  masterKey?: string
  /** SQLite: the rows stay in the write-ahead log. */
  log?: boolean
  /** Writes into a new database of this server in place of an SQLite file. */
  server?: DatabaseServer | null
  /** Whether the database stores its texts in ISO 8859-1. */
  latin1?: boolean
}

/** Writes into a folder. Rows can be added until `close`, and are stored after `flush`. */
export async function writeSource(folder: string, options: WriteOptions = {}) {
  const { masterKey = MASTER_KEY, log = false, server = null, latin1 = false } = options
  const file = join(folder, 'storage/db/production.sqlite3')
  const sink = server === null ? sqliteSink(file, { log }) : await serverSink(server, { latin1 })
  mkdirSync(join(folder, 'storage'), { recursive: true })
  writeFileSync(join(folder, 'master.key'), `${masterKey}\n`)
  const ids = new Map<string, number>()
  /** Returns the id. */
  function insert(table: string, row: SourceRow): number {
    const id = (ids.get(table) ?? 0) + 1
    ids.set(table, id)
    sink.insert(table, { id, ...row })
    return id
  }

  function addUser(user: SourceUser): void {
    const { otpSecret = null, lastStep = null, confirmedAt = 0, lockedAt = null } = user
    const place = { table: 'users', column: 'otp_secret_ciphertext', masterKey }
    insert('users', {
      id: user.id,
      email: user.email,
      encrypted_password:
        user.encryptedPassword ?? '$2a$04$wMH4ImhjpmrgPpfuQgVnPe0OELL46FKSKztWR1dYUA/yNBQVdTbSC',
      authentication_token: user.token === undefined ? `token-of-user-${user.id}-xyz` : user.token,
      admin: user.admin ?? false,
      otp_required_for_login: otpSecret === null ? null : true,
      otp_secret_ciphertext: lockbox(otpSecret, place),
      last_otp_timestep: lastStep,
      locked_at: time(lockedAt),
      confirmed_at: time(confirmedAt),
      preferred_language: user.language ?? null,
      created_at: time(0),
    })
  }

  function addPush(push: SourcePush): void {
    const seal = (column: string, text: string | null) =>
      lockbox(text, { table: 'pushes', column, masterKey: push.masterKey ?? masterKey })
    const { deletable = true } = push
    insert('pushes', {
      id: push.id,
      kind: push.kind ?? 0,
      url_token: push.urlToken,
      payload_ciphertext: seal('payload_ciphertext', push.payload ?? null),
      passphrase_ciphertext: seal('passphrase_ciphertext', push.passphrase ?? null),
      note_ciphertext: seal('note_ciphertext', push.note ?? null),
      name: push.name ?? null,
      expire_after_days: push.days ?? 7,
      expire_after_views: push.views ?? 5,
      expired: push.expired ?? false,
      expired_on: time(push.expiredOn),
      deletable_by_viewer: deletable,
      retrieval_step: push.step ?? false,
      user_id: push.userId ?? null,
      created_at: time(push.createdAt),
      updated_at: time(push.createdAt),
    })
    for (const entry of push.entries ?? []) addEntry(push.id, entry)
    for (const file of push.files ?? []) addFile(push.id, file)
  }

  function addEntry(id: number, entry: NonNullable<SourcePush['entries']>[number]): void {
    const { kind, at, ip = '192.0.2.10', userAgent = 'test', referrer = '' } = entry
    const times = { created_at: time(at), updated_at: time(at) }
    insert('audit_logs', { push_id: id, ip, user_agent: userAgent, referrer, kind, ...times })
  }

  function addFile(id: number, file: SourceFile): void {
    const { key, filename, contentType = 'text/plain', content, service = 'local' } = file
    const blob = insert('active_storage_blobs', {
      key,
      filename,
      content_type: contentType,
      byte_size: content.length,
      checksum: createHash('md5').update(content).digest('base64'),
      service_name: service,
      created_at: time(0),
    })
    const attachment = {
      name: 'files',
      record_type: 'Push',
      record_id: id,
      blob_id: blob,
      created_at: time(0),
    }
    insert('active_storage_attachments', attachment)
    if (file.isMissing) return
    const place = join(folder, 'storage', key.slice(0, 2), key.slice(2, 4), key)
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, content)
  }

  return {
    addUser,
    addPush,
    flush: sink.flush,
    /** Changes rows that were written. */
    run: async (sql: string) => {
      await sink.flush()
      await sink.run(sql)
    },
    /** The options of the import command. */
    wish: {
      database: sink.database,
      storage: join(folder, 'storage'),
      masterKeyFile: join(folder, 'master.key'),
    },
    close: sink.close,
  }
}
