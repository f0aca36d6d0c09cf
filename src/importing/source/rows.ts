// Converts rows of Password Pusher (every column is text) to domain values. Unreadable rows become a sentence
// that says why.

import { type AuditKind, type EntryToImport, visitFrom } from '../../domain/audit.ts'
import type { PushKind } from '../../domain/push.ts'
import type { FileToImport, IncomingAccount, IncomingPush, Unreadable } from '../incoming.ts'
import type { Blob } from './blobs.ts'
import type { Row } from './foreign-database.ts'
import type { Unseal } from './sealed-columns.ts'

const KINDS: Record<number, PushKind> = { 0: 'text', 1: 'file', 2: 'url', 3: 'qr' }

const AUDIT_KINDS: Record<number, AuditKind> = {
  0: 'creation',
  1: 'view',
  2: 'failed_view',
  3: 'expire',
  4: 'failed_passphrase',
  5: 'admin_view',
  6: 'owner_view',
  7: 'edit',
  8: 'creation_email_send',
}

type PushParts = { row: Row; entries: EntryToImport[]; files: FileToImport[]; unseal: Unseal }

export function readPush({ row, entries, files, unseal }: PushParts): IncomingPush | Unreadable {
  const id = Number(row.id)
  const kind = KINDS[integer(row.kind) ?? -1]
  const createdAt = parseTime(row.created_at)
  const [days, views] = [integer(row.expire_after_days), integer(row.expire_after_views)]
  if (kind === undefined) return { id, problem: 'its kind is not known here' }
  if (typeof row.url_token !== 'string') return { id, problem: 'it has no token' }
  if (createdAt === null) return { id, problem: 'the time of its creation cannot be read' }
  if (days === null || days < 1 || views === null || views < 1)
    return { id, problem: 'its limits in days and views cannot be read' }
  const open = (column: string) => unseal({ table: 'pushes', column }, row[column])
  return {
    id,
    urlToken: row.url_token,
    kind,
    ownerId: integer(row.user_id),
    name: text(row.name),
    note: open('note_ciphertext'),
    payload: open('payload_ciphertext'),
    passphrase: open('passphrase_ciphertext'),
    createdAt,
    updatedAt: parseTime(row.updated_at) ?? createdAt,
    expireAfterDays: days,
    expireAfterViews: views,
    expired: flag(row.expired),
    expiredOn: parseTime(row.expired_on),
    deletableByViewer: deletable(row.deletable_by_viewer, kind),
    retrievalStep: flag(row.retrieval_step),
    entries,
    files,
  }
}

/** Returns null for an entry with an unknown kind or an unreadable time. */
export function readEntry(row: Row): EntryToImport | null {
  const kind = AUDIT_KINDS[integer(row.kind) ?? -1]
  const at = parseTime(row.created_at)
  if (kind === undefined || at === null) return null
  const texts = { ip: text(row.ip), userAgent: text(row.user_agent), referrer: text(row.referrer) }
  return { kind, at, ...visitFrom(texts) }
}

export function readBlob(row: Row): Blob {
  return {
    key: text(row.key),
    filename: text(row.filename),
    contentType: text(row.content_type),
    size: integer(row.byte_size),
    checksum: text(row.checksum),
    service: text(row.service_name),
  }
}

export function readAccount(row: Row, unseal: Unseal): IncomingAccount {
  const place = { table: 'users', column: 'otp_secret_ciphertext' }
  const lastStep = integer(row.last_otp_timestep)
  const totp = flag(row.otp_required_for_login)
    ? { secret: unseal(place, row.otp_secret_ciphertext), lastStep }
    : null
  return {
    id: Number(row.id),
    email: text(row.email),
    passwordHash: text(row.encrypted_password),
    apiToken: text(row.authentication_token),
    isAdmin: flag(row.admin),
    // A version that asks for no confirmation has no such column.
    isStopped: text(row.locked_at) !== '' || row.confirmed_at === null || row.confirmed_at === '',
    totp,
    language: text(row.preferred_language),
    createdAt: parseTime(row.created_at) ?? 0,
  }
}

/** Returns whether viewers may delete the push; null only for a URL push that leaves it open. */
function deletable(value: unknown, kind: PushKind): boolean | null {
  return value === null && kind === 'url' ? null : flag(value)
}

function flag(value: unknown): boolean {
  return typeof value === 'string' && /^(1|t|true)$/i.test(value)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function integer(value: unknown): number | null {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : null
}

/** A time as Rails writes it: UTC text with up to nine digits behind the seconds. */
const TIME = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:Z| UTC|\+00(?::?00)?)?$/

/** Parses a time to milliseconds since 1970; null for any other value. */
function parseTime(value: unknown): number | null {
  const [, day, time, fraction = ''] = TIME.exec(text(value)) ?? []
  const at = Date.parse(`${day}T${time}${fraction.slice(0, 4)}Z`)
  return Number.isNaN(at) ? null : at
}
