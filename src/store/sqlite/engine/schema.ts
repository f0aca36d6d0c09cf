// The tables as drizzle sees them. The SQL files in migrations/ create them; a test keeps the two equal.

import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AuditKind } from '../../../domain/audit.ts'
import type { PushKind } from '../../../domain/push.ts'
import { bytes } from '../../column-types.ts'

/** drizzle's own boolean turns a null from a placeholder into false; this one keeps it. */
const flag = customType<{ data: boolean; driverData: number | null }>({
  dataType: () => 'integer',
  toDriver: (value: boolean | null) => (value === null ? null : Number(value)),
  fromDriver: (value) => value === 1,
})

export const instance = sqliteTable('instance', {
  id: integer().primaryKey(),
  clockMark: integer('clock_mark').notNull(),
  checksum: integer(),
  clockDoubted: integer('clock_doubted'),
})

export const instanceKeys = sqliteTable('instance_keys', {
  number: integer().primaryKey(),
  verifier: bytes().notNull(),
})

export const pushes = sqliteTable('pushes', {
  id: integer().primaryKey(),
  lookup: bytes().notNull(),
  keyNumber: integer('key_number').notNull(),
  kind: text().$type<PushKind>().notNull(),
  ownerId: integer('owner_id'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  expireAfterDays: integer('expire_after_days').notNull(),
  expireAfterViews: integer('expire_after_views').notNull(),
  views: integer().notNull(),
  deletableByViewer: flag('deletable_by_viewer'),
  retrievalStep: flag('retrieval_step').notNull(),
  passphraseRequired: flag('passphrase_required').notNull(),
  wrongTries: integer('wrong_tries').notNull(),
  wrongTriesSince: integer('wrong_tries_since').notNull(),
  expiredOn: integer('expired_on'),
  deleted: flag('deleted').notNull(),
  files: integer().notNull(),
  lastEntry: integer('last_entry'),
  auditDropped: integer('audit_dropped').notNull(),
  checksum: integer(),
  wrongTriesInAll: integer('wrong_tries_in_all').notNull(),
  triesSpent: flag('tries_spent').notNull(),
  failures: integer().notNull(),
  ownerViews: integer('owner_views').notNull(),
  auditEntries: integer('audit_entries').notNull(),
  lastViewedAt: integer('last_viewed_at').notNull(),
  lost: flag('lost').notNull(),
  edits: integer().notNull(),
  countedFailures: integer('counted_failures').notNull(),
  countedAt: integer('counted_at').notNull(),
  countedFrom: text('counted_from').notNull(),
})

export const pushSecrets = sqliteTable('push_secrets', {
  pushId: integer('push_id').primaryKey(),
  keySlot: integer('key_slot').notNull(),
  salt: bytes().notNull(),
  passphraseSalt: bytes('passphrase_salt'),
  payload: bytes().notNull(),
  checksum: integer(),
})

export const pushKeys = sqliteTable('push_keys', {
  slot: integer().primaryKey(),
  wrappedKey: bytes('wrapped_key').notNull(),
})

export const pushFiles = sqliteTable(
  'push_files',
  {
    pushId: integer('push_id').notNull(),
    n: integer().notNull(),
    fileId: text('file_id').notNull(),
    size: integer().notNull(),
    filename: bytes().notNull(),
    contentType: bytes('content_type').notNull(),
  },
  (table) => [primaryKey({ columns: [table.pushId, table.n] })],
)

export const filesDue = sqliteTable('files_due', {
  id: text().primaryKey(),
  at: integer(),
  pushId: integer('push_id'),
})

export const bucketFolder = sqliteTable('bucket_folder', {
  id: integer().primaryKey(),
  tag: text().notNull(),
  session: text().notNull(),
  isUsed: flag('is_used').notNull(),
})

export const pushLabels = sqliteTable('push_labels', {
  pushId: integer('push_id').primaryKey(),
  urlToken: bytes('url_token').notNull(),
  name: bytes(),
  note: bytes(),
  seenViews: integer('seen_views').notNull(),
})

export const auditEntries = sqliteTable('audit_entries', {
  id: integer().primaryKey(),
  pushId: integer('push_id').notNull(),
  n: integer().notNull(),
  previous: integer(),
  kind: text().$type<AuditKind>().notNull(),
  at: integer().notNull(),
  ip: text().notNull(),
  userAgent: text('user_agent').notNull(),
  referrer: text().notNull(),
  checksum: integer(),
})

export const idempotencyKeys = sqliteTable('idempotency_keys', {
  lookup: bytes().primaryKey().notNull(),
  lapsesAt: integer('lapses_at').notNull(),
  pushId: integer('push_id'),
  slot: integer(),
  checksum: integer(),
})

export const idempotencyAnswers = sqliteTable('idempotency_answers', {
  slot: integer().primaryKey(),
  answer: bytes().notNull(),
})

export const imported = sqliteTable('imported', {
  mark: bytes().primaryKey().notNull(),
  keyNumber: integer('key_number').notNull(),
})

export const home = sqliteTable('home', {
  id: integer().primaryKey(),
  machine: text(),
  path: text().notNull(),
  incarnation: text().notNull(),
  markInode: text('mark_inode'),
  markBirth: integer('mark_birth'),
  databaseInode: text('database_inode'),
  databaseBirth: integer('database_birth'),
  servedAt: integer('served_at').notNull(),
  checksum: integer().notNull(),
})

export const liveShares = sqliteTable('live_shares', {
  pushId: integer('push_id').primaryKey(),
  address: bytes().notNull(),
  bytes: integer().notNull(),
  expiresAt: integer('expires_at').notNull(),
})

export const addressShares = sqliteTable('address_shares', {
  address: bytes().primaryKey().notNull(),
  pushes: integer().notNull(),
  bytes: integer().notNull(),
})
