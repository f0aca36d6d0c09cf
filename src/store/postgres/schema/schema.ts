// The tables as drizzle sees them, but for those of instance-schema.ts. The SQL files in migrations/ create them; a test keeps
// the two equal.

import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { AuditKind } from '../../../domain/audit.ts'
import type { PushKind } from '../../../domain/push.ts'
import { bigint, bytes } from './column-types.ts'

export const pushes = pgTable('pushes', {
  id: bigint().generatedByDefaultAsIdentity().primaryKey(),
  version: integer().notNull(),
  lookup: bytes().notNull(),
  keyNumber: integer('key_number').notNull(),
  kind: text().$type<PushKind>().notNull(),
  ownerId: bigint('owner_id'),
  createdAt: bigint('created_at').notNull(),
  updatedAt: bigint('updated_at').notNull(),
  expiresAt: bigint('expires_at').notNull(),
  expireAfterDays: integer('expire_after_days').notNull(),
  expireAfterViews: integer('expire_after_views').notNull(),
  views: integer().notNull(),
  lastViewedAt: bigint('last_viewed_at').notNull(),
  deletableByViewer: boolean('deletable_by_viewer'),
  retrievalStep: boolean('retrieval_step').notNull(),
  passphraseRequired: boolean('passphrase_required').notNull(),
  wrongTries: integer('wrong_tries').notNull(),
  wrongTriesSince: bigint('wrong_tries_since').notNull(),
  wrongTriesInAll: integer('wrong_tries_in_all').notNull(),
  triesSpent: boolean('tries_spent').notNull(),
  expiredOn: bigint('expired_on'),
  deleted: boolean().notNull(),
  lost: boolean().notNull(),
  files: integer().notNull(),
  auditDropped: integer('audit_dropped').notNull(),
  entries: integer().notNull(),
  auditEntries: integer('audit_entries').notNull(),
  failures: integer().notNull(),
  ownerViews: integer('owner_views').notNull(),
  edits: integer().notNull(),
  countedFailures: integer('counted_failures').notNull(),
  countedAt: bigint('counted_at').notNull(),
  countedFrom: text('counted_from').notNull(),
})

export const pushSecrets = pgTable('push_secrets', {
  pushId: bigint('push_id').primaryKey(),
  salt: bytes().notNull(),
  wrappedKey: bytes('wrapped_key').notNull(),
  passphraseSalt: bytes('passphrase_salt'),
  payload: bytes().notNull(),
})

export const pushFiles = pgTable(
  'push_files',
  {
    pushId: bigint('push_id').notNull(),
    n: integer().notNull(),
    fileId: text('file_id').notNull(),
    size: bigint().notNull(),
    filename: bytes().notNull(),
    contentType: bytes('content_type').notNull(),
  },
  (table) => [primaryKey({ columns: [table.pushId, table.n] })],
)

export const filesDue = pgTable('files_due', {
  id: text().primaryKey(),
  at: bigint(),
  pushId: bigint('push_id'),
  node: bytes(),
})

export const filesRead = pgTable(
  'files_read',
  {
    id: text().notNull(),
    node: bytes().notNull(),
  },
  (table) => [primaryKey({ columns: [table.id, table.node] })],
)

export const pushLabels = pgTable('push_labels', {
  pushId: bigint('push_id').primaryKey(),
  urlToken: bytes('url_token').notNull(),
  name: bytes(),
  note: bytes(),
  seenViews: integer('seen_views').notNull(),
})

export const auditEntries = pgTable(
  'audit_entries',
  {
    pushId: bigint('push_id').notNull(),
    n: integer().notNull(),
    kind: text().$type<AuditKind>().notNull(),
    at: bigint().notNull(),
    ip: text().notNull(),
    userAgent: text('user_agent').notNull(),
    referrer: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.pushId, table.n] })],
)

export const idempotencyKeys = pgTable('idempotency_keys', {
  lookup: bytes().primaryKey(),
  lapsesAt: bigint('lapses_at').notNull(),
  pushId: bigint('push_id'),
  answer: bytes(),
})

export const imported = pgTable('imported', {
  mark: bytes().primaryKey(),
  keyNumber: integer('key_number').notNull(),
})

export const liveShares = pgTable('live_shares', {
  pushId: bigint('push_id').primaryKey(),
  address: bytes().notNull(),
  bytes: bigint().notNull(),
  expiresAt: bigint('expires_at').notNull(),
})

export const addressShares = pgTable('address_shares', {
  address: bytes().primaryKey(),
  pushes: bigint().notNull(),
  bytes: bigint().notNull(),
})

export const bucketFolder = pgTable('bucket_folder', {
  id: integer().primaryKey(),
  tag: text().notNull(),
  session: text().notNull(),
  isUsed: boolean('is_used').notNull(),
  mark: text(),
  address: text(),
})

export const spentPoints = pgTable('spent_points', {
  name: text().primaryKey(),
  points: integer().notNull(),
  until: bigint().notNull(),
})

export const usedNonces = pgTable('used_nonces', {
  nonce: text().primaryKey(),
  lapsesAt: bigint('lapses_at').notNull(),
})

export const leases = pgTable('leases', {
  name: text().primaryKey(),
  holder: bytes().notNull(),
  until: bigint().notNull(),
  wanted: boolean().notNull(),
})

export const twoFactorOffers = pgTable('two_factor_offers', {
  sessionId: bigint('session_id').primaryKey(),
  secret: bytes().notNull(),
  until: bigint().notNull(),
})
