// The columns that a move carries, in one order for all engines. What is left out follows from the rest, or lives only as long
// as a process: checksums, slots, chains, versions, leases and sums.

import type { MovedTable, MovingKey, MovingRow } from '../moving-face.ts'

type Columns = { columns: readonly string[]; key: readonly string[] }

/** In the order in which they are written: a row may refer to rows of tables before its own. */
export const MOVED_TABLES: Readonly<Record<MovedTable, Columns>> = {
  instanceKeys: { columns: ['number', 'verifier'], key: ['number'] },
  accounts: {
    columns: [
      ...['id', 'email', 'passwordHash', 'isAdmin', 'disabledAt', 'createdAt'],
      ...['totpSecret', 'totpStep', 'lastSignInAt', 'resets'],
    ],
    key: ['id'],
  },
  apiTokens: {
    columns: ['id', 'accountId', 'name', 'prefix', 'hash', 'createdAt', 'lastUsedAt'],
    key: ['id'],
  },
  recoveryCodes: { columns: ['accountId', 'hash'], key: ['accountId', 'hash'] },
  sessions: {
    columns: ['id', 'accountId', 'hash', 'createdAt', 'lastSeenAt', 'ip', 'userAgent', 'confirmedAt'],
    key: ['id'],
  },
  accountLinks: {
    columns: [
      ...['id', 'hash', 'purpose', 'accountId', 'email', 'isAdmin', 'endsTwoFactor'],
      ...['createdBy', 'createdAt', 'expiresAt'],
    ],
    key: ['id'],
  },
  messageTemplates: { columns: ['accountId', 'template'], key: ['accountId'] },
  pushChoices: {
    columns: ['accountId', 'lifetime', 'views', 'retrievalStep', 'deletableByViewer'],
    key: ['accountId'],
  },
  imported: { columns: ['mark', 'keyNumber'], key: ['mark'] },
  idempotencyKeys: { columns: ['lookup', 'lapsesAt', 'pushId', 'answer'], key: ['lookup'] },
  filesDue: { columns: ['id', 'at', 'pushId'], key: ['id'] },
}

export const TABLE_NAMES = Object.keys(MOVED_TABLES) as readonly MovedTable[]

/** The columns of a push, and of each kind of row that belongs to it. */
export const PUSH_COLUMNS = {
  push: [
    ...['id', 'lookup', 'keyNumber', 'kind', 'ownerId', 'createdAt', 'updatedAt', 'expiresAt'],
    ...['expireAfterDays', 'expireAfterViews', 'views', 'lastViewedAt', 'deletableByViewer', 'retrievalStep'],
    ...['passphraseRequired', 'wrongTries', 'wrongTriesSince', 'wrongTriesInAll', 'triesSpent'],
    ...['expiredOn', 'deleted', 'lost', 'files', 'auditDropped', 'auditEntries', 'failures', 'ownerViews'],
    ...['edits', 'countedFailures', 'countedAt', 'countedFrom'],
  ],
  secrets: ['pushId', 'salt', 'wrappedKey', 'passphraseSalt', 'payload'],
  labels: ['pushId', 'urlToken', 'name', 'note', 'seenViews'],
  share: ['pushId', 'address', 'bytes', 'expiresAt'],
  files: ['pushId', 'n', 'fileId', 'size', 'filename', 'contentType'],
  entries: ['pushId', 'kind', 'at', 'ip', 'userAgent', 'referrer'],
} as const

/** Rows of a small table that are read at once. */
export const STEP = 1_000
/** Pushes that are read at once, and about how many bytes they may have. */
export const PUSH_STEP = 1_000
const PUSH_BYTES = 8 * 1024 * 1024
/** What an entry of an audit log takes, for that. */
export const ENTRY_BYTES = 400

/** The moved columns of a row alone, in their order, with texts that every engine can hold. */
export function pick(row: object, columns: readonly string[]): MovingRow {
  const picked: Record<string, unknown> = {}
  for (const name of columns) {
    const value: unknown = Reflect.get(row, name) ?? null
    picked[name] =
      typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value
  }
  // Rows of an engine hold nothing else; the type system cannot follow.
  return picked as MovingRow
}

export function keyOf(row: MovingRow, key: readonly string[]): MovingKey {
  return key.map((name) => row[name] ?? null)
}

/** Of pushes in the order of their ids, the id of the last one that still fits into one batch. */
export function cutBatch(sizes: readonly { id: number; bytes: number }[]): number | null {
  let bytes = 0
  let last: number | null = null
  for (const one of sizes) {
    bytes += one.bytes
    if (last !== null && bytes > PUSH_BYTES) return last
    last = one.id
  }
  return last
}

/** The rows of each push. */
export function groupByPush(rows: readonly MovingRow[]): ReadonlyMap<number, MovingRow[]> {
  const groups = new Map<number, MovingRow[]>()
  for (const row of rows) {
    const id = Number(row.pushId)
    const group = groups.get(id)
    if (group === undefined) groups.set(id, [row])
    else group.push(row)
  }
  return groups
}
