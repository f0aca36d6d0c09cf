// The parameters of the statement that inserts new pushes: an array for each column, in this order.

import { arraysOf } from '../schema/rows.ts'
import { auditEntries, pushes, pushSecrets } from '../schema/schema.ts'

/** A column of the given rows: its name here, its name in the statement, and its type. */
export type Column<Name extends string> = { name: Name; column: string; type: string }

function columnsOf<Name extends string>(
  table: Readonly<Record<Name, { name: string; getSQLType(): string }>>,
  names: readonly Name[],
): Column<Name>[] {
  return names.map((name) => ({ name, column: table[name].name, type: table[name].getSQLType() }))
}

/** Columns of `pushes` that a create gives; the others are the same in every new push. */
export const PUSH = columnsOf(pushes, [
  ...(['lookup', 'keyNumber', 'kind', 'ownerId', 'createdAt', 'updatedAt', 'expiresAt'] as const),
  ...(['expireAfterDays', 'expireAfterViews', 'views', 'lastViewedAt', 'deletableByViewer'] as const),
  ...(['retrievalStep', 'passphraseRequired', 'wrongTries', 'wrongTriesSince', 'wrongTriesInAll'] as const),
  ...(['triesSpent', 'expiredOn', 'deleted', 'lost', 'files'] as const),
])
export const SECRETS = columnsOf(pushSecrets, ['salt', 'wrappedKey', 'passphraseSalt', 'payload'])
const VISIT = columnsOf(auditEntries, ['ip', 'userAgent', 'referrer'])

/** What every push has. */
export const PLAIN = [...PUSH, ...SECRETS, ...VISIT]

/** What a push may have besides: an idempotency key, labels, a share of an address, and an owner. */
export const BESIDES = [
  { name: 'keyLookup', column: 'key_lookup', type: 'bytea' },
  { name: 'keyLapsesAt', column: 'key_lapses_at', type: 'bigint' },
  { name: 'keyAnswer', column: 'key_answer', type: 'bytea' },
  { name: 'urlToken', column: 'url_token', type: 'bytea' },
  { name: 'name', column: 'name', type: 'bytea' },
  { name: 'note', column: 'note', type: 'bytea' },
  { name: 'shareAddress', column: 'share_address', type: 'bytea' },
  { name: 'shareBytes', column: 'share_bytes', type: 'bigint' },
  { name: 'ownerResets', column: 'owner_resets', type: 'int' },
] as const

/** `pushNumber`: `n` of its push, from 1. */
export const FILE = [
  { name: 'pushNumber', column: 'of_n', type: 'int' },
  { name: 'n', column: 'n', type: 'int' },
  { name: 'fileId', column: 'file_id', type: 'text' },
  { name: 'size', column: 'size', type: 'bigint' },
  { name: 'filename', column: 'filename', type: 'bytea' },
  { name: 'contentType', column: 'content_type', type: 'bytea' },
] as const

type NameIn<Columns extends readonly Column<string>[]> = Columns[number]['name']

export type GivenPush = Readonly<Record<NameIn<typeof PLAIN> | NameIn<typeof BESIDES>, unknown>>
export type GivenFile = Readonly<Record<NameIn<typeof FILE>, unknown>>

/** For pushes that have only what every push has. */
export function plainValues(rows: readonly GivenPush[]): unknown[] {
  return arraysOf(rows, namesOf(PLAIN))
}

/** For any pushes. `owners`: the ids of their owners. Keys that have lapsed by `now` may be used again. */
export function wholeValues(
  rows: readonly GivenPush[],
  { files, owners, now }: { files: readonly GivenFile[]; owners: readonly number[]; now: number },
): unknown[] {
  const ofPushes = [...plainValues(rows), ...arraysOf(rows, namesOf(BESIDES))]
  return [...ofPushes, ...arraysOf(files, namesOf(FILE)), owners, now]
}

function namesOf<Name extends string>(columns: readonly Column<Name>[]): Name[] {
  return columns.map(({ name }) => name)
}
