// The tables, declared once for every engine. The order is that in which transactions lock their rows. Times
// are milliseconds since 1970. The files of `migrations/` build them; `npm run schema` prints their SQL.

import { sql } from 'drizzle-orm'
import { check, customType, integer, primaryKey, sqliteTable, unique } from 'drizzle-orm/sqlite-core'
import type { AccountLinkPurpose, SignInVia } from '../domain/account.ts'
import type { AuditKind } from '../domain/audit.ts'
import type { EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import type { DeliveryFailure, OutboxKind, WebhookFormat } from '../domain/outbox.ts'
import type { AgeSealer, PushKind } from '../domain/push.ts'
import { LAST_TIME } from '../domain/time.ts'

/**
 * Defines a column type whose values need no conversion by the driver. `check` is a condition on every value.
 */
const typed = <T>(type: string) =>
  customType<{ data: T; driverData: T; config: { check: string } }>({
    dataType: (config) => (config ? `${type} CHECK (${config.check})` : type),
  })
/** On PostgreSQL `int` has 32 bits; `long` and `integer` have 64. */
const int = typed<number>('int')
const long = typed<number>('integer')
const text = typed<string>('text')
/** drizzle's own type converts each value to a Buffer, which takes longer than reading it. */
const bytes = typed<Uint8Array>('blob')
/** The id of the one row of a table. */
const one = () => long('id', { check: 'id = 1' }).primaryKey()
const count = (name: string) => int(name, { check: `${name} >= 0` })
/** Milliseconds since 1970, up to the year 9999. */
const time = (name: string) => long(name, { check: `${name} BETWEEN 0 AND ${LAST_TIME}` })
/** A boolean column. */
const flag = (name: string) => integer(name, { mode: 'boolean' })
/** A condition on several columns. */
const rule = (condition: string) => check(condition, sql.raw(condition))
const CASCADE = { onDelete: 'cascade' } as const
/** References an account, and is deleted with it. */
const ofAccount = () => integer('account_id').references(() => accounts.id, CASCADE)
const ofPush = () => integer('push_id').references(() => pushes.id)

/**
 * One row; PostgreSQL has more columns. The last time of use, and the reading of a clock in doubt until the
 * clock is confirmed. After `oncebox copy`, `copyState` says that this source must not be served, and
 * `copyOther` names the target.
 */
export const instance = sqliteTable('instance', {
  id: one(),
  clockMark: integer('clock_mark').notNull(),
  clockDoubted: integer('clock_doubted'),
  copyState: text('copy_state', { check: "copy_state = 'left'" }),
  copyOther: text('copy_other'),
})

export const instanceKeys = sqliteTable('instance_keys', {
  number: long({ check: 'number BETWEEN 1 AND 255' }).primaryKey(),
  verifier: bytes({ check: 'length(verifier) = 16' }).notNull(),
})

/** The path at which the database is served, with its mark. Used in data folders only. */
export const home = sqliteTable('home', {
  id: one(),
  mark: text({ check: 'length(mark) = 32' }).notNull(),
  path: text().notNull(),
})

/** The link by which each push is found. This table and the next exist only in a data folder. */
export const pushLinks = sqliteTable('push_links', {
  lookup: bytes().primaryKey().notNull(),
  pushId: integer('push_id').notNull(),
})

/** One row. */
export const linksFiled = sqliteTable('links_filed', {
  id: one(),
  upTo: integer('up_to').notNull(),
})

/** One row or none: the name, contact and notice that administrators have set. */
export const appearance = sqliteTable('appearance', {
  id: one(),
  name: text({ check: 'length(name) BETWEEN 1 AND 40' }),
  contact: text({ check: 'length(contact) BETWEEN 1 AND 200' }),
  notice: text({ check: 'length(notice) BETWEEN 1 AND 300' }),
})

/**
 * Ids of accounts and pushes are never reused: a row may still contain the id of a removed one, and must not
 * belong to another.
 */
export const accounts = sqliteTable('accounts', {
  id: integer().primaryKey({ autoIncrement: true }),
  email: text().notNull().unique(),
  passwordHash: text('password_hash').notNull(),
  isAdmin: flag('is_admin').notNull(),
  disabledAt: integer('disabled_at'),
  createdAt: integer('created_at').notNull(),
  totpSecret: bytes('totp_secret'),
  totpStep: integer('totp_step'),
  lastSignInAt: integer('last_sign_in_at').notNull(),
  /** How often a reset link was used. Requests that were authenticated before that are refused. */
  resets: int().notNull().default(0),
  /** Whether its API tokens never pause. */
  isService: flag('is_service').notNull().default(false),
  /** When the owner was last notified that the API tokens will pause. */
  pauseToldAt: integer('pause_told_at'),
  /** The number of its passkeys. */
  passkeys: count('passkeys').notNull().default(0),
})

export const sessions = sqliteTable('sessions', {
  id: integer().primaryKey(),
  accountId: ofAccount().notNull(),
  hash: bytes({ check: 'length(hash) = 32' }).notNull().unique(),
  createdAt: integer('created_at').notNull(),
  lastSeenAt: integer('last_seen_at').notNull(),
  ip: text({ check: 'length(ip) <= 45' }).notNull(),
  userAgent: text('user_agent', { check: 'length(user_agent) <= 255' }).notNull(),
  /** When the password, and the code of a second factor, were last confirmed. */
  confirmedAt: integer('confirmed_at').notNull(),
  /** How the session began; null for a password. */
  via: text({ check: "via IN ('oidc', 'header')" }).$type<SignInVia>(),
  /** The person at the provider, and the provider's own session, for its logout. */
  issuer: text({ check: 'length(issuer) <= 500' }),
  subject: text({ check: 'length(subject) <= 255' }),
  sid: text({ check: 'length(sid) <= 255' }),
  /** Whether the provider asked for a second factor. */
  isMultiFactor: flag('is_multi_factor').notNull().default(false),
  endsAt: integer('ends_at'),
})

/** Links persons at a provider to accounts. */
export const identities = sqliteTable(
  'identities',
  {
    issuer: text({ check: 'length(issuer) <= 500' }).notNull(),
    subject: text({ check: 'length(subject) <= 255' }).notNull(),
    accountId: ofAccount().notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.issuer, table.subject] })],
)

/** Public keys of authenticators. `rpId` is the host name under which browsers use them. */
export const passkeys = sqliteTable('passkeys', {
  id: integer().primaryKey(),
  accountId: ofAccount().notNull(),
  credentialId: bytes('credential_id', { check: 'length(credential_id) BETWEEN 1 AND 1023' })
    .notNull()
    .unique(),
  publicKey: bytes('public_key', { check: 'length(public_key) <= 2048' }).notNull(),
  /** The signature counter of its last use. */
  counter: long({ check: 'counter >= 0' }).notNull(),
  rpId: text('rp_id', { check: 'length(rp_id) <= 253' }).notNull(),
  name: text({ check: 'length(name) <= 100' }).notNull(),
  /** Whether it signs in without the password. */
  signsIn: flag('signs_in').notNull(),
  createdAt: integer('created_at').notNull(),
  lastUsedAt: integer('last_used_at'),
  /** When its counter went back. From then on the passkey is refused. */
  copiedAt: integer('copied_at'),
})

export const accountLinks = sqliteTable(
  'account_links',
  {
    id: integer().primaryKey(),
    hash: bytes({ check: 'length(hash) = 32' }).notNull().unique(),
    purpose: text({ check: "purpose IN ('setup', 'invite', 'reset')" }).$type<AccountLinkPurpose>().notNull(),
    accountId: ofAccount(),
    email: text(),
    isAdmin: flag('is_admin').notNull(),
    /** Whether the reset also turns the second factor off. */
    endsTwoFactor: flag('ends_two_factor').notNull(),
    /**
     * The administrator who made the link; it is deleted with their account. Null for a setup link, which the
     * server makes.
     */
    createdBy: integer('created_by').references(() => accounts.id, CASCADE),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  () => [rule("(purpose = 'reset') = (account_id IS NOT NULL)")],
)

export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: integer().primaryKey(),
    accountId: ofAccount().notNull(),
    name: text().notNull(),
    prefix: text().notNull(),
    hash: bytes({ check: 'length(hash) = 32' }).notNull().unique(),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
  },
  (table) => [unique().on(table.accountId, table.name)],
)

export const recoveryCodes = sqliteTable(
  'recovery_codes',
  { accountId: ofAccount().notNull(), hash: bytes({ check: 'length(hash) = 32' }).notNull() },
  (table) => [primaryKey({ columns: [table.accountId, table.hash] })],
)

/**
 * The message and the options of an account, where they differ from the standard message and the defaults of
 * the server.
 */
export const preferences = sqliteTable('preferences', {
  accountId: ofAccount().primaryKey(),
  template: text({ check: "template <> ''" }),
  lifetime: long({ check: 'lifetime > 0' }),
  views: int({ check: 'views > 0' }),
  retrievalStep: flag('retrieval_step'),
  deletableByViewer: flag('deletable_by_viewer'),
  /** The public key of age for which the answers to its requests are encrypted. */
  recipient: text({ check: "recipient <> ''" }),
  /** The types of events that are mailed to it, with a comma before and after each. */
  mailEvents: text('mail_events', { check: "mail_events LIKE ',%,'" }),
  /** Whether the form begins with encryption in the browser. */
  endToEnd: flag('end_to_end'),
  /** The message for the links of requests, as `template`. */
  askTemplate: text('ask_template', { check: "ask_template <> ''" }),
  mailLanguage: text('mail_language', { check: 'length(mail_language) BETWEEN 2 AND 7' }).$type<Language>(),
})

/** `name`, `message`, `urlToken` and `verifier` are sealed. */
export const requests = sqliteTable(
  'requests',
  {
    id: integer().primaryKey(),
    lookup: bytes({ check: 'length(lookup) = 16' }).notNull().unique(),
    keyNumber: int('key_number').notNull(),
    accountId: ofAccount().notNull(),
    urlToken: bytes('url_token').notNull(),
    name: bytes(),
    message: bytes(),
    acceptsText: flag('accepts_text').notNull(),
    acceptsFiles: flag('accepts_files').notNull(),
    maxAnswers: int('max_answers', { check: 'max_answers > 0' }).notNull(),
    answers: int({ check: 'answers BETWEEN 0 AND max_answers' }).notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    closedAt: time('closed_at'),
    passphraseSalt: bytes('passphrase_salt'),
    verifier: bytes('passphrase_verifier'),
    wrongTries: count('wrong_tries').notNull(),
    wrongTriesSince: integer('wrong_tries_since').notNull(),
    wrongTriesInAll: count('wrong_tries_in_all').notNull(),
    recipient: text(),
    /** Whether senders see the address of the account, while the server allows that. */
    showsSender: flag('shows_sender').notNull().default(false),
  },
  () => [rule('(passphrase_salt IS NULL) = (passphrase_verifier IS NULL)')],
)

/** Answers that are being uploaded. */
export const requestReservations = sqliteTable('request_reservations', {
  id: integer().primaryKey(),
  requestId: integer('request_id')
    .notNull()
    .references(() => requests.id, CASCADE),
  until: integer().notNull(),
})

/** One row or none: the last push, in the order of expiry, whose owner was notified that it expires soon. */
export const soonTold = sqliteTable('soon_told', {
  id: one(),
  endsAt: integer('ends_at').notNull(),
  pushId: integer('push_id').notNull(),
})

/**
 * The only row of a push that a view changes. A step that holds its lock may also change the push and all
 * that belongs to it. Before the first view, `lastViewedAt` is in the year 9999: see
 * store/pushes/stored-push.ts.
 */
export const pushState = sqliteTable('push_state', {
  id: ofPush().primaryKey(),
  updatedAt: time('updated_at').notNull(),
  views: count('views').notNull(),
  lastViewedAt: time('last_viewed_at').notNull(),
  wrongTries: count('wrong_tries').notNull(),
  wrongTriesSince: integer('wrong_tries_since').notNull(),
  wrongTriesInAll: count('wrong_tries_in_all').notNull(),
  triesSpent: flag('tries_spent').notNull(),
  /**
   * The last entry of the log and the number of entries; then the number of visits of each limited kind, of
   * which only the first become entries.
   */
  lastEntry: integer('last_entry'),
  auditEntries: count('audit_entries').notNull(),
  failures: count('failures').notNull(),
  ownerViews: count('owner_views').notNull(),
  edits: count('edits').notNull(),
  /** Failures without an entry, and the latest visit of any kind without one. */
  countedFailures: int('counted_failures', { check: 'counted_failures BETWEEN 0 AND failures' }).notNull(),
  countedAt: integer('counted_at').notNull(),
  countedFrom: text('counted_from', { check: 'length(counted_from) <= 45' }).notNull(),
})

/**
 * Read-only until an edit or the end. The view `links` finds a push by its lookup; it uses an index on
 * PostgreSQL, and push_links in SQLite.
 */
export const pushes = sqliteTable(
  'pushes',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    lookup: bytes({ check: 'length(lookup) = 16' }).notNull(),
    keyNumber: int('key_number').notNull(),
    // Write no IN: SQLite builds a table for more than two values, which takes a quarter of the time of the
    // insert.
    kind: text({ check: "kind = 'text' OR kind = 'file' OR kind = 'url' OR kind = 'qr'" })
      .$type<PushKind>()
      .notNull(),
    ownerId: integer('owner_id'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    expireAfterDays: int('expire_after_days', { check: 'expire_after_days > 0' }).notNull(),
    expireAfterViews: int('expire_after_views', { check: 'expire_after_views > 0' }).notNull(),
    deletableByViewer: flag('deletable_by_viewer'),
    retrievalStep: flag('retrieval_step').notNull(),
    showsSender: flag('shows_sender').notNull(),
    passphraseRequired: flag('passphrase_required').notNull(),
    expiredOn: time('expired_on'),
    deleted: flag('deleted').notNull(),
    /** Whether a restore expired the push, because backups contain nothing that opens it. */
    lost: flag('lost').notNull(),
    files: count('files').notNull(),
    /** The side that encrypted the push with age. */
    encryptedBy: text('encrypted_by', {
      check: "encrypted_by = 'sender' OR encrypted_by = 'server'",
    }).$type<AgeSealer>(),
    keyCheck: text('key_check', { check: 'length(key_check) = 8' }),
    /** Whether its owner has not looked at it since it arrived or ended; false without an owner. */
    isNew: flag('is_new').notNull().default(false),
    codeRequired: flag('code_required').notNull().default(false),
  },
  () => [rule('NOT (deleted OR lost) OR expired_on IS NOT NULL')],
)

/**
 * The secrets that must vanish: the commit that ends a push deletes the row and overwrites the wrapped key in
 * its slot of `push_keys`.
 */
export const pushSecrets = sqliteTable('push_secrets', {
  pushId: ofPush().primaryKey(),
  keySlot: integer('key_slot').notNull(),
  salt: bytes().notNull(),
  passphraseSalt: bytes('passphrase_salt'),
  payload: bytes().notNull(),
})

/**
 * Slots of a fixed size, overwritten in place and never deleted: SQLite leaves copies of rows that it moves.
 */
export const pushKeys = sqliteTable('push_keys', {
  slot: integer().primaryKey(),
  isFree: flag('is_free').notNull(),
  wrappedKey: bytes('wrapped_key', { check: 'length(wrapped_key) = 62' }).notNull(),
})

/**
 * The labels of an account's own pushes, sealed, and the number of views when the owner last looked.
 * `request` is the token of the request that the push answers. `eventId` is random: events name the push by
 * it, because it reveals nothing of the link. `readAt`: when the owner first looked at the content of an
 * answer; 0 if that was before this column existed. `requestId` may belong to another request once the
 * original one is removed.
 */
export const pushLabels = sqliteTable('push_labels', {
  pushId: ofPush().primaryKey(),
  urlToken: bytes('url_token').notNull(),
  name: bytes(),
  note: bytes(),
  request: bytes(),
  seenViews: int('seen_views').notNull(),
  eventId: text('event_id', { check: 'length(event_id) = 20' }).notNull(),
  readAt: integer('read_at'),
  requestId: integer('request_id'),
  /** Whether the name was entered as that of the recipient, so that a message may greet with it. */
  namesRecipient: flag('names_recipient').notNull().default(false),
})

/**
 * The logs of all pushes, in the order of time, so that the visits of a batch share a page or two. `previous`
 * is the entry before it in the log of the same push. An index by push is avoided: it would cost every visit
 * its own page.
 */
export const auditEntries = sqliteTable('audit_entries', {
  id: integer().primaryKey(),
  pushId: integer('push_id').notNull(),
  previous: long({ check: 'previous < id' }),
  kind: text({ check: 'length(kind) <= 30' }).$type<AuditKind>().notNull(),
  at: integer().notNull(),
  ip: text({ check: 'length(ip) <= 45' }).notNull(),
  userAgent: text('user_agent', { check: 'length(user_agent) <= 255' }).notNull(),
  referrer: text({ check: 'length(referrer) <= 300' }).notNull(),
})

/**
 * Which part of its address's limit each live anonymous push takes. Stores only a keyed hash of the address.
 */
export const liveShares = sqliteTable('live_shares', {
  pushId: ofPush().primaryKey(),
  address: bytes({ check: 'length(address) = 16' }).notNull(),
  bytes: long({ check: 'bytes >= 0' }).notNull(),
  expiresAt: integer('expires_at').notNull(),
})

/** The sums of `live_shares`. */
export const addressShares = sqliteTable('address_shares', {
  address: bytes().primaryKey().notNull(),
  pushes: integer().notNull(),
  bytes: integer().notNull(),
})

/**
 * Idempotency keys. Push and slot are null once the push has ended. From then on the row only records that
 * the key was used.
 */
export const idempotencyKeys = sqliteTable(
  'idempotency_keys',
  {
    lookup: bytes({ check: 'length(lookup) = 32' }).primaryKey().notNull(),
    keyNumber: int('key_number').notNull(),
    lapsesAt: integer('lapses_at').notNull(),
    pushId: integer('push_id'),
    slot: integer(),
  },
  () => [rule('(push_id IS NULL) = (slot IS NULL)')],
)

/** The sealed answers, in slots like the keys of pushes. */
export const idempotencyAnswers = sqliteTable('idempotency_answers', {
  slot: integer().primaryKey(),
  isFree: flag('is_free').notNull(),
  answer: bytes({ check: 'length(answer) = 88' }).notNull(),
})

/** The files of a live push; names and types are sealed. */
export const pushFiles = sqliteTable(
  'push_files',
  {
    pushId: ofPush().notNull(),
    n: count('n').notNull(),
    fileId: text('file_id').notNull(),
    size: long({ check: 'size >= 0' }).notNull(),
    filename: bytes().notNull(),
    contentType: bytes('content_type').notNull(),
  },
  (table) => [primaryKey({ columns: [table.pushId, table.n] })],
)

/**
 * Files to be removed. `at`: when; null while `node` still uploads the file. `pushId`: grants of this push
 * may read the file until then.
 */
export const filesDue = sqliteTable('files_due', {
  id: text().primaryKey(),
  at: integer(),
  pushId: integer('push_id'),
  node: bytes(),
})

/** Unused here. Nodes of version 3.0.0, which may serve the same database, record downloads in it. */
export const filesRead = sqliteTable('files_read', {
  reader: bytes().primaryKey().notNull(),
  id: text().notNull(),
  node: bytes().notNull(),
})

/**
 * `tag` names the folder of this database in a bucket. If `isBucket` is false, the files are on the disk of
 * the one process that serves. `mark` identifies that disk or bucket, and `address` names it in messages.
 */
export const bucketFolder = sqliteTable('bucket_folder', {
  id: one(),
  tag: text().notNull(),
  isBucket: flag('is_used').notNull(),
  mark: text().notNull(),
  address: text().notNull(),
})

/**
 * How many events an account has ever had. Its lock keeps the events of an account in the order of their
 * commits.
 */
export const eventCounts = sqliteTable('event_counts', {
  accountId: ofAccount().primaryKey(),
  last: long({ check: 'last >= 0' }).notNull(),
})

/** Recent events, numbered for each account. `data` is JSON without secrets, names and links. */
export const events = sqliteTable(
  'events',
  {
    accountId: ofAccount().notNull(),
    n: integer().notNull(),
    type: text({ check: 'length(type) <= 30' }).$type<EventType>().notNull(),
    at: integer().notNull(),
    data: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.n] })],
)

/**
 * A keyed hash of everything that was ever imported. Rows are never deleted, so that a repeated import adds
 * nothing twice and restores nothing that was removed here.
 */
export const imported = sqliteTable('imported', {
  mark: bytes({ check: 'length(mark) = 16' }).primaryKey().notNull(),
})

/**
 * Limits on tries: the points used under a name, until the window ends. The nonce of a page whose button was
 * pressed is recorded here, too.
 */
export const spentPoints = sqliteTable('spent_points', {
  name: text().primaryKey().notNull(),
  points: count('points').notNull(),
  until: integer().notNull(),
})

/**
 * A receiver of the events of an account; without an account, of all events for the administrators. `sealed`
 * holds the URL and the secret. `events` lists types, with a comma before and after each.
 */
export const webhooks = sqliteTable(
  'webhooks',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    accountId: ofAccount(),
    host: text({ check: 'length(host) <= 300' }).notNull(),
    sealed: bytes().notNull(),
    format: text({ check: 'length(format) <= 30' }).$type<WebhookFormat>().notNull(),
    events: text({ check: "events LIKE ',%,'" }).notNull(),
    withName: flag('with_name').notNull(),
    createdAt: integer('created_at').notNull(),
    lastDelivery: integer('last_delivery'),
    lastError: text('last_error', { check: 'length(last_error) <= 30' }).$type<DeliveryFailure>(),
    lastFailure: integer('last_failure'),
  },
  // No names in webhooks of administrators: the names of pushes are for their owners only.
  () => [rule('account_id IS NOT NULL OR NOT with_name')],
)

/**
 * Deliveries, stored with the commit that they report. `dueAt`: the next attempt, or the end of the running
 * one's lease. A message that was given up, at `failedAt`, is kept without its body until `dueAt`.
 * `accountId`: null for all administrators. `body`: sealed for a mail; for a webhook the event as JSON,
 * without names and links.
 */
export const outbox = sqliteTable(
  'outbox',
  {
    id: integer().primaryKey({ autoIncrement: true }),
    kind: text({ check: 'length(kind) <= 30' }).$type<OutboxKind>().notNull(),
    accountId: ofAccount(),
    webhookId: integer('webhook_id').references(() => webhooks.id, CASCADE),
    pushId: integer('push_id'),
    at: integer().notNull(),
    dueAt: integer('due_at').notNull(),
    tries: count('tries').notNull(),
    failedAt: integer('failed_at'),
    body: text().notNull(),
  },
  () => [rule("(kind = 'webhook') = (webhook_id IS NOT NULL)"), rule("failed_at IS NULL OR body = ''")],
)
