// The statement that inserts new pushes with everything that belongs to them, as many as there are.

import type { PushToStore } from '../../face.ts'
import type { Statement } from '../engine/database.ts'
import { arraysOf } from '../schema/rows.ts'
import { pushes } from '../schema/schema.ts'
import { storableText } from './push-log.ts'
import type { PushRow } from './stored-push.ts'

/**
 * What the insert did with a push. It is `inactive` when its owner is, or has begun anew with a reset link since the request came, `used` when its idempotency key was used, and `abandoned`
 * when one of its files is no upload any more, because the other nodes took this one for dead.
 */
export type Inserted = { outcome: 'stored'; row: PushRow } | { outcome: Refusal }

type Refusal = 'used' | 'inactive' | 'abandoned'

/**
 * A statement that inserts these pushes, no two with the same idempotency key; keys that have lapsed by `now` may be used again.
 * It is a transaction by itself when it gets the id of its operation.
 */
export function insertOf(
  wanted: readonly PushToStore[],
  { now, operationId }: { now: number; operationId: Uint8Array | null },
): Statement {
  const isPlain = wanted.every(hasOnlySecrets)
  const rows = wanted.map(givenOf)
  const values = [...arraysOf(rows, PLAIN), ...(isPlain ? [] : restOf(wanted, rows, now))]
  if (operationId === null) return { text: isPlain ? INSERT_PLAIN : INSERT_ALL, values }
  return { text: isPlain ? COMMIT_PLAIN : COMMIT_ALL, values: [...values, operationId] }
}

/** What the result of the statement says of each push. */
export function insertedBy(result: readonly number[], wanted: readonly PushToStore[]): Inserted[] {
  return wanted.map((of, n) => {
    const id = result[n] ?? 0
    return id > 0 ? { outcome: 'stored', row: rowOf(of, id) } : { outcome: REFUSALS[-id] ?? 'used' }
  })
}

/** A refusal stands in the place of an id as a number, which is negative or 0. */
const REFUSALS: readonly Refusal[] = ['used', 'inactive', 'abandoned']
const numberOf = (refusal: Refusal) => -REFUSALS.indexOf(refusal)

function hasOnlySecrets({ push, labels, files, idempotency, share }: PushToStore): boolean {
  return (
    push.ownerId === null && labels === null && files.length === 0 && idempotency === null && share === null
  )
}

const NEW_LOG = { auditDropped: 0, entries: 1, auditEntries: 1, failures: 0, ownerViews: 0 }

function rowOf({ push, lookup, keyNumber, files }: PushToStore, id: number): PushRow {
  return { ...push, id, version: 0, lookup, keyNumber, files: files.length, ...NEW_LOG }
}

function givenOf(of: PushToStore) {
  const { secrets, visit } = of
  return {
    ...rowOf(of, 0),
    ...secrets,
    ip: storableText(visit.ip),
    userAgent: storableText(visit.userAgent),
    referrer: storableText(visit.referrer),
    keyLookup: of.idempotency?.lookup ?? null,
    keyLapsesAt: of.idempotency?.lapsesAt ?? null,
    keyAnswer: of.idempotency?.answer ?? null,
    urlToken: of.labels?.urlToken ?? null,
    name: of.labels?.name ?? null,
    note: of.labels?.note ?? null,
    shareAddress: of.share?.addresses[0] ?? null,
    shareBytes: of.share?.bytes ?? null,
    ownerResets: of.ownerResets,
  }
}

type Given = ReturnType<typeof givenOf>

/** Columns of `pushes` that a create gives; the others are the same in every new push. */
const PUSH = [
  ...(['lookup', 'keyNumber', 'kind', 'ownerId', 'createdAt', 'updatedAt', 'expiresAt'] as const),
  ...(['expireAfterDays', 'expireAfterViews', 'views', 'lastViewedAt', 'deletableByViewer'] as const),
  ...(['retrievalStep', 'passphraseRequired', 'wrongTries', 'wrongTriesSince', 'wrongTriesInAll'] as const),
  ...(['triesSpent', 'expiredOn', 'deleted', 'lost', 'files'] as const),
]
const SECRETS = ['salt', 'wrappedKey', 'passphraseSalt', 'payload'] as const
const VISIT = ['ip', 'userAgent', 'referrer'] as const
const PLAIN = [...PUSH, ...SECRETS, ...VISIT]
const REST = [
  'keyLookup',
  'keyLapsesAt',
  'keyAnswer',
  'urlToken',
  'name',
  'note',
  'shareAddress',
  'shareBytes',
  'ownerResets',
] as const

function restOf(wanted: readonly PushToStore[], rows: readonly Given[], now: number): unknown[] {
  const owners = new Set(wanted.flatMap(({ push: { ownerId } }) => (ownerId === null ? [] : [ownerId])))
  const files = wanted.flatMap((of, index) => of.files.map((file, n) => ({ ...file, n, of: index + 1 })))
  return [
    ...arraysOf(rows, REST),
    ...arraysOf(files, ['of', 'n', 'fileId', 'size', 'filename', 'contentType']),
    [...owners],
    now,
  ]
}

const columnOf = (name: (typeof PUSH)[number]) => pushes[name].name
const PUSH_COLUMNS = PUSH.map(columnOf)
const SECRET_COLUMNS = ['salt', 'wrapped_key', 'passphrase_salt', 'payload']
const VISIT_COLUMNS = ['ip', 'user_agent', 'referrer']
const PLAIN_COLUMNS = [...PUSH_COLUMNS, ...SECRET_COLUMNS, ...VISIT_COLUMNS]
const PLAIN_TYPES = [
  ...PUSH.map((name) => pushes[name].getSQLType()),
  ...SECRET_COLUMNS.map(() => 'bytea'),
  ...VISIT_COLUMNS.map(() => 'text'),
]
const REST_COLUMNS = [
  'key_lookup',
  'key_lapses_at',
  'key_answer',
  'url_token',
  'name',
  'note',
  'share_address',
  'share_bytes',
  'owner_resets',
]
const REST_TYPES = ['bytea', 'bigint', 'bytea', 'bytea', 'bytea', 'bytea', 'bytea', 'bigint', 'int']

/** The pushes to insert, each with its id, and with `n` from 1 in the order in which they were given. */
function givenAs(columns: readonly string[], types: readonly string[]): string {
  return `given AS MATERIALIZED (
    SELECT nextval('pushes_id_seq') AS id, given.*
    FROM unnest(${types.map((type, n) => `$${n + 1}::${type}[]`).join(', ')})
      WITH ORDINALITY AS given(${columns.join(', ')}, n)
  )`
}

const intoPushes = (rows: 'given' | 'allowed') => `INSERT INTO pushes (
    id, version, ${PUSH_COLUMNS.join(', ')}, audit_dropped, entries, audit_entries, failures, owner_views
  ) SELECT id, 0, ${PUSH_COLUMNS.join(', ')}, 0, 1, 1, 0, 0 FROM ${rows}`
const INTO_SECRETS = `INSERT INTO push_secrets (push_id, ${SECRET_COLUMNS.join(', ')})
  SELECT id, ${SECRET_COLUMNS.join(', ')} FROM given`
const INTO_LOG = `INSERT INTO audit_entries (push_id, n, kind, at, ip, user_agent, referrer)
  SELECT id, 0, 'creation', created_at, ip, user_agent, referrer FROM given`

const PLAIN_CTES = `
  WITH ${givenAs(PLAIN_COLUMNS, PLAIN_TYPES)},
  stored AS (${intoPushes('given')}), secrets AS (${INTO_SECRETS}), log AS (${INTO_LOG})`
const PLAIN_RESULT = 'SELECT array_agg(id ORDER BY n) AS result FROM given'

const AFTER = PLAIN.length + REST.length
/** What was stored is looked up in a hash table, whatever the plan; a join might compare each with each. */
const IS_STORED = '(id IN (SELECT id FROM stored)) IS TRUE'

// Keys that two nodes use at the same time: the second insert waits for the first, and then changes nothing. The owners stay
// locked until the commit, so that no account is removed meanwhile, and so do the uploads, so that no node removes a file.
const ALL_CTES = `
  WITH ${givenAs([...PLAIN_COLUMNS, ...REST_COLUMNS], [...PLAIN_TYPES, ...REST_TYPES])},
  owners AS MATERIALIZED (
    SELECT id, resets FROM accounts WHERE id = ANY($${AFTER + 7}::bigint[]) AND disabled_at IS NULL ORDER BY id FOR KEY SHARE
  ),
  file AS MATERIALIZED (
    SELECT * FROM unnest(
      $${AFTER + 1}::int[], $${AFTER + 2}::int[], $${AFTER + 3}::text[], $${AFTER + 4}::bigint[],
      $${AFTER + 5}::bytea[], $${AFTER + 6}::bytea[]
    ) AS file(of_n, n, file_id, size, filename, content_type)
  ),
  uploads AS MATERIALIZED (
    SELECT id FROM files_due WHERE id = ANY($${AFTER + 3}::text[]) AND at IS NULL ORDER BY id FOR UPDATE
  ),
  abandoned AS MATERIALIZED (SELECT of_n AS n FROM file WHERE file_id NOT IN (SELECT id FROM uploads)),
  allowed AS MATERIALIZED (
    SELECT * FROM given
    WHERE (owner_id IS NULL OR (owner_id, owner_resets) IN (SELECT id, resets FROM owners)) AND n NOT IN (SELECT n FROM abandoned)
  ),
  keys AS (
    INSERT INTO idempotency_keys (lookup, lapses_at, push_id, answer)
    SELECT key_lookup, key_lapses_at, id, key_answer FROM allowed WHERE key_lookup IS NOT NULL ORDER BY key_lookup
    ON CONFLICT (lookup) DO UPDATE
      SET lapses_at = excluded.lapses_at, push_id = excluded.push_id, answer = excluded.answer
      WHERE idempotency_keys.lapses_at <= $${AFTER + 8}::bigint
    RETURNING push_id
  ),
  stored AS (
    ${intoPushes('allowed')}
    WHERE key_lookup IS NULL OR id IN (SELECT push_id FROM keys) RETURNING id
  ),
  secrets AS (${INTO_SECRETS} WHERE ${IS_STORED}),
  log AS (${INTO_LOG} WHERE ${IS_STORED}),
  labels AS (
    INSERT INTO push_labels (push_id, url_token, name, note, seen_views)
    SELECT id, url_token, name, note, 0 FROM given WHERE url_token IS NOT NULL AND ${IS_STORED}
  ),
  files AS (
    INSERT INTO push_files (push_id, n, file_id, size, filename, content_type)
    SELECT given.id, file.n, file.file_id, file.size, file.filename, file.content_type
    FROM file JOIN given ON given.n = file.of_n WHERE ${IS_STORED}
    RETURNING file_id
  ),
  kept AS (
    DELETE FROM files_due WHERE id = ANY($${AFTER + 3}::text[]) AND (id IN (SELECT file_id FROM files)) IS TRUE
  ),
  taken AS (
    INSERT INTO live_shares (push_id, address, bytes, expires_at)
    SELECT id, share_address, share_bytes, expires_at FROM given WHERE share_address IS NOT NULL AND ${IS_STORED}
    RETURNING address, bytes
  ),
  sums AS (
    UPDATE address_shares SET pushes = address_shares.pushes + more.pushes, bytes = address_shares.bytes + more.bytes
    FROM (SELECT address, count(*) AS pushes, sum(bytes)::bigint AS bytes FROM taken GROUP BY address) AS more
    WHERE address_shares.address = more.address
  )`
const ALL_RESULT = `
  SELECT array_agg(
    CASE WHEN id IN (SELECT id FROM stored) THEN id
      WHEN owner_id IS NOT NULL AND (owner_id, owner_resets) NOT IN (SELECT id, resets FROM owners) THEN ${numberOf('inactive')}
      WHEN n IN (SELECT n FROM abandoned) THEN ${numberOf('abandoned')} ELSE ${numberOf('used')} END
    ORDER BY n
  ) AS result FROM given`

const RETURN = 'SELECT result::float8[] AS result FROM'
const commit = (result: string, parameter: number) => `, operation AS (
    INSERT INTO operations (id, result) SELECT $${parameter}::bytea, result FROM (${result}) AS ids RETURNING result
  ) ${RETURN} operation`

const INSERT_PLAIN = `${PLAIN_CTES} ${RETURN} (${PLAIN_RESULT}) AS ids`
const INSERT_ALL = `${ALL_CTES} ${RETURN} (${ALL_RESULT}) AS ids`
const COMMIT_PLAIN = `${PLAIN_CTES} ${commit(PLAIN_RESULT, PLAIN.length + 1)}`
const COMMIT_ALL = `${ALL_CTES} ${commit(ALL_RESULT, AFTER + 9)}`
