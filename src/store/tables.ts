// The tables, declared once for every engine. The order is that in which transactions lock their rows.

import { customType, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { AccountLinkPurpose } from '../domain/account.ts'
import type { AuditKind } from '../domain/audit.ts'
import type { EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import type { DeliveryError, OutboxKind, WebhookFormat } from '../domain/outbox.ts'
import type { PushKind } from '../domain/push.ts'

/** drizzle's own type turns each value into a Buffer, which takes longer than reading it. */
const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })
/** True or false. */
const flag = (name: string) => integer(name, { mode: 'boolean' })

/** One row; PostgreSQL has more columns. */
export const instance = sqliteTable('instance', {
  id: integer().primaryKey(),
  clockMark: integer('clock_mark').notNull(),
  clockDoubted: integer('clock_doubted'),
  copyState: text('copy_state'),
  copyMark: text('copy_mark'),
  copyOther: text('copy_other'),
})

export const instanceKeys = sqliteTable('instance_keys', {
  number: integer().primaryKey(),
  verifier: bytes().notNull(),
})

/** Only in a data folder. */
export const home = sqliteTable('home', {
  id: integer().primaryKey(),
  mark: text().notNull(),
  path: text().notNull(),
})

/** By which link each push is found; only in a data folder, as the next one. */
export const pushLinks = sqliteTable('push_links', {
  lookup: bytes().primaryKey().notNull(),
  pushId: integer('push_id').notNull(),
})

/** One row. */
export const linksFiled = sqliteTable('links_filed', {
  id: integer().primaryKey(),
  upTo: integer('up_to').notNull(),
})

/** One row, or none. */
export const appearance = sqliteTable('appearance', {
  id: integer().primaryKey(),
  name: text(),
  contact: text(),
  notice: text(),
})

export const accounts = sqliteTable('accounts', {
  id: integer().primaryKey(),
  email: text().notNull(),
  passwordHash: text('password_hash').notNull(),
  isAdmin: flag('is_admin').notNull(),
  disabledAt: integer('disabled_at'),
  createdAt: integer('created_at').notNull(),
  totpSecret: bytes('totp_secret'),
  totpStep: integer('totp_step'),
  lastSignInAt: integer('last_sign_in_at').notNull(),
  resets: integer().notNull().default(0),
})

export const sessions = sqliteTable('sessions', {
  id: integer().primaryKey(),
  accountId: integer('account_id').notNull(),
  hash: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  ip: text().notNull(),
  userAgent: text('user_agent').notNull(),
  confirmedAt: integer('confirmed_at').notNull(),
})

export const accountLinks = sqliteTable('account_links', {
  id: integer().primaryKey(),
  hash: bytes().notNull(),
  purpose: text().$type<AccountLinkPurpose>().notNull(),
  accountId: integer('account_id'),
  email: text(),
  isAdmin: flag('is_admin').notNull(),
  endsTwoFactor: flag('ends_two_factor').notNull(),
  createdBy: integer('created_by'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
})

export const apiTokens = sqliteTable('api_tokens', {
  id: integer().primaryKey(),
  accountId: integer('account_id').notNull(),
  name: text().notNull(),
  prefix: text().notNull(),
  hash: bytes().notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
})

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  { accountId: integer('account_id').notNull(), hash: bytes().notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
)

export const preferences = sqliteTable('preferences', {
  accountId: integer('account_id').primaryKey(),
  template: text(),
  lifetime: integer(),
  views: integer(),
  retrievalStep: flag('retrieval_step'),
  deletableByViewer: flag('deletable_by_viewer'),
  recipient: text(),
  mailEvents: text('mail_events'),
  mailLanguage: text('mail_language').$type<Language>(),
})

/** `name`, `message`, `urlToken` and `verifier` are sealed. */
export const requests = sqliteTable('requests', {
  id: integer().primaryKey(),
  lookup: bytes().notNull(),
  keyNumber: integer('key_number').notNull(),
  accountId: integer('account_id').notNull(),
  urlToken: bytes('url_token').notNull(),
  name: bytes(),
  message: bytes(),
  acceptsText: flag('accepts_text').notNull(),
  acceptsFiles: flag('accepts_files').notNull(),
  maxAnswers: integer('max_answers').notNull(),
  answers: integer().notNull(),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  closedAt: integer('closed_at'),
  passphraseSalt: bytes('passphrase_salt'),
  verifier: bytes('passphrase_verifier'),
  wrongTries: integer('wrong_tries').notNull(),
  wrongTriesSince: integer('wrong_tries_since').notNull(),
  wrongTriesInAll: integer('wrong_tries_in_all').notNull(),
  recipient: text(),
})

/** Answers that are being uploaded. */
export const requestReservations = sqliteTable('request_reservations', {
  id: integer().primaryKey(),
  requestId: integer('request_id').notNull(),
  until: integer().notNull(),
})

/** One row, or none: of all pushes that end until then, in the order of their ends, the owners were told that they expire soon. */
export const soonTold = sqliteTable('soon_told', {
  id: integer().primaryKey(),
  endsAt: integer('ends_at').notNull(),
  pushId: integer('push_id').notNull(),
})

/** The only row that a view changes. Whoever holds its lock may also change the push, and what belongs to it. */
export const pushState = sqliteTable('push_state', {
  id: integer('push_id').primaryKey(),
  updatedAt: integer('updated_at').notNull(),
  views: integer().notNull(),
  lastViewedAt: integer('last_viewed_at').notNull(),
  wrongTries: integer('wrong_tries').notNull(),
  wrongTriesSince: integer('wrong_tries_since').notNull(),
  wrongTriesInAll: integer('wrong_tries_in_all').notNull(),
  triesSpent: flag('tries_spent').notNull(),
  lastEntry: integer('last_entry'),
  auditEntries: integer('audit_entries').notNull(),
  failures: integer().notNull(),
  ownerViews: integer('owner_views').notNull(),
  edits: integer().notNull(),
  countedFailures: integer('counted_failures').notNull(),
  countedAt: integer('counted_at').notNull(),
  countedFrom: text('counted_from').notNull(),
})

/** Only read, until an edit or the end. */
export const pushes = sqliteTable('pushes', {
  id: integer().primaryKey(),
  lookup: bytes().notNull(),
  keyNumber: integer('key_number').notNull(),
  kind: text().$type<PushKind>().notNull(),
  ownerId: integer('owner_id'),
  createdAt: integer('created_at').notNull(),
  expiresAt: integer('expires_at').notNull(),
  expireAfterDays: integer('expire_after_days').notNull(),
  expireAfterViews: integer('expire_after_views').notNull(),
  deletableByViewer: flag('deletable_by_viewer'),
  retrievalStep: flag('retrieval_step').notNull(),
  showsSender: flag('shows_sender').notNull(),
  passphraseRequired: flag('passphrase_required').notNull(),
  expiredOn: integer('expired_on'),
  deleted: flag('deleted').notNull(),
  lost: flag('lost').notNull(),
  files: integer().notNull(),
})

/** What must vanish: deleted with the push. The wrapped key lies in its slot of `push_keys`. */
export const pushSecrets = sqliteTable('push_secrets', {
  pushId: integer('push_id').primaryKey(),
  keySlot: integer('key_slot').notNull(),
  salt: bytes().notNull(),
  passphraseSalt: bytes('passphrase_salt'),
  payload: bytes().notNull(),
})

export const pushKeys = sqliteTable('push_keys', {
  slot: integer().primaryKey(),
  isFree: flag('is_free').notNull(),
  wrappedKey: bytes('wrapped_key').notNull(),
})

export const pushLabels = sqliteTable('push_labels', {
  pushId: integer('push_id').primaryKey(),
  urlToken: bytes('url_token').notNull(),
  name: bytes(),
  note: bytes(),
  request: bytes(),
  seenViews: integer('seen_views').notNull(),
  eventId: text('event_id').notNull(),
})

/** The logs of all pushes in the order of time. `previous` is the entry before it in the log of its push. */
export const auditEntries = sqliteTable('audit_entries', {
  id: integer().primaryKey(),
  pushId: integer('push_id').notNull(),
  previous: integer(),
  kind: text().$type<AuditKind>().notNull(),
  at: integer().notNull(),
  ip: text().notNull(),
  userAgent: text('user_agent').notNull(),
  referrer: text().notNull(),
})

/** What each live push without an account takes of the share of its creator's address, of which only a keyed hash is kept. */
export const liveShares = sqliteTable('live_shares', {
  pushId: integer('push_id').primaryKey(),
  address: bytes().notNull(),
  bytes: integer().notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** The sums of `live_shares`. */
export const addressShares = sqliteTable('address_shares', {
  address: bytes().primaryKey().notNull(),
  pushes: integer().notNull(),
  bytes: integer().notNull(),
})

/** Without push and slot once the push has ended: then the row says only that the key was used. */
export const idempotencyKeys = sqliteTable('idempotency_keys', {
  lookup: bytes().primaryKey().notNull(),
  keyNumber: integer('key_number').notNull(),
  lapsesAt: integer('lapses_at').notNull(),
  pushId: integer('push_id'),
  slot: integer(),
})

export const idempotencyAnswers = sqliteTable('idempotency_answers', {
  slot: integer().primaryKey(),
  isFree: flag('is_free').notNull(),
  answer: bytes().notNull(),
})

/** The files of a live push. */
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

/** Files to be removed at a time. Without one: uploads that are under way on `node`. `pushId`: until then grants may read it. */
export const filesDue = sqliteTable('files_due', {
  id: text().primaryKey(),
  at: integer(),
  pushId: integer('push_id'),
  node: bytes(),
})

/** Downloads from a bucket, which keeps nothing for its readers: what `node` reads is removed later. */
export const filesRead = sqliteTable('files_read', {
  reader: bytes().primaryKey().notNull(),
  id: text().notNull(),
  node: bytes().notNull(),
})

/**
 * `tag` names the folder of this database in a bucket. While that is not used, the files are on the disk of the one process that
 * serves. `mark` tells that disk or bucket from others, and `address` names it to people.
 */
export const bucketFolder = sqliteTable('bucket_folder', {
  id: integer().primaryKey(),
  tag: text().notNull(),
  isUsed: flag('is_used').notNull(),
  mark: text().notNull(),
  address: text().notNull(),
})

/** How many events an account was ever told. */
export const eventCounts = sqliteTable('event_counts', {
  accountId: integer('account_id').primaryKey(),
  last: integer().notNull(),
})

/** What accounts were told lately, numbered for each account. */
export const events = sqliteTable(
  'events',
  {
    accountId: integer('account_id').notNull(),
    n: integer().notNull(),
    type: text().$type<EventType>().notNull(),
    at: integer().notNull(),
    data: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.n] })],
)

/** What was ever imported, by a keyed hash. */
export const imported = sqliteTable('imported', { mark: bytes().primaryKey().notNull() })

/** Limits on tries: points spent under a name, until the window ends. A nonce of a page whose button was pressed is spent so, too. */
export const spentPoints = sqliteTable('spent_points', {
  name: text().primaryKey().notNull(),
  points: integer().notNull(),
  until: integer().notNull(),
})

/** Without an account: for the administrators, of the pushes of everybody. */
export const webhooks = sqliteTable('webhooks', {
  id: integer().primaryKey(),
  accountId: integer('account_id'),
  host: text().notNull(),
  sealed: bytes().notNull(),
  format: text().$type<WebhookFormat>().notNull(),
  events: text().notNull(),
  withName: flag('with_name').notNull(),
  createdAt: integer('created_at').notNull(),
  lastDelivery: integer('last_delivery'),
  lastError: text('last_error').$type<DeliveryError>(),
})

/** What is to be told outside, until it was delivered or given up. */
export const outbox = sqliteTable('outbox', {
  id: integer().primaryKey(),
  kind: text().$type<OutboxKind>().notNull(),
  accountId: integer('account_id'),
  webhookId: integer('webhook_id'),
  pushId: integer('push_id'),
  at: integer().notNull(),
  dueAt: integer('due_at').notNull(),
  tries: integer().notNull(),
  failedAt: integer('failed_at'),
  body: text().notNull(),
})
