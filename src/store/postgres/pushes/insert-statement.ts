// The text of the statement that inserts new pushes with everything that belongs to them.

import { BESIDES, type Column, FILE, PLAIN, PUSH, SECRETS } from './insert-columns.ts'

type Columns = readonly Column<string>[]

const listOf = (columns: Columns) => columns.map(({ column }) => column).join(', ')
const arraysFrom = (first: number, columns: Columns) =>
  columns.map(({ type }, n) => `$${first + n}::${type}[]`).join(', ')

const FIRST_FILE = PLAIN.length + BESIDES.length + 1
const FILE_IDS = `$${FIRST_FILE + FILE.findIndex(({ name }) => name === 'fileId')}::text[]`
const OWNERS = FIRST_FILE + FILE.length
const NOW = OWNERS + 1

/** The pushes to insert, each with its id, and with `n` from 1 in the order in which they were given. */
function givenAs(columns: Columns): string {
  return `given AS MATERIALIZED (
    SELECT nextval('pushes_id_seq') AS id, given.*
    FROM unnest(${arraysFrom(1, columns)}) WITH ORDINALITY AS given(${listOf(columns)}, n)
  )`
}

const intoPushes = (rows: 'given' | 'allowed') => `INSERT INTO pushes (
    id, version, ${listOf(PUSH)}, audit_dropped, entries, audit_entries, failures, owner_views
  ) SELECT id, 0, ${listOf(PUSH)}, 0, 1, 1, 0, 0 FROM ${rows}`
const INTO_SECRETS = `INSERT INTO push_secrets (push_id, ${listOf(SECRETS)})
  SELECT id, ${listOf(SECRETS)} FROM given`
const INTO_LOG = `INSERT INTO audit_entries (push_id, n, kind, at, ip, user_agent, referrer)
  SELECT id, 0, 'creation', created_at, ip, user_agent, referrer FROM given`

const PLAIN_CTES = `
  WITH ${givenAs(PLAIN)},
  stored AS (${intoPushes('given')}), secrets AS (${INTO_SECRETS}), log AS (${INTO_LOG})`
const PLAIN_RESULT = 'SELECT array_agg(id ORDER BY n) AS result FROM given'

/** Makes PostgreSQL look up in a hash table what was stored. For a join it might compare each row with each. */
const IS_STORED = '(id IN (SELECT id FROM stored)) IS TRUE'

// Keys that two nodes use at the same time: the second insert waits for the first, and then changes nothing. The owners stay
// locked until the commit, so that no account is removed meanwhile, and so do the uploads, so that no node removes a file.
const WHOLE_CTES = `
  WITH ${givenAs([...PLAIN, ...BESIDES])},
  owners AS MATERIALIZED (
    SELECT id, resets FROM accounts WHERE id = ANY($${OWNERS}::bigint[]) AND disabled_at IS NULL ORDER BY id FOR KEY SHARE
  ),
  file AS MATERIALIZED (SELECT * FROM unnest(${arraysFrom(FIRST_FILE, FILE)}) AS file(${listOf(FILE)})),
  uploads AS MATERIALIZED (
    SELECT id FROM files_due WHERE id = ANY(${FILE_IDS}) AND at IS NULL ORDER BY id FOR UPDATE
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
      WHERE idempotency_keys.lapses_at <= $${NOW}::bigint
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
    DELETE FROM files_due WHERE id = ANY(${FILE_IDS}) AND (id IN (SELECT file_id FROM files)) IS TRUE
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

/** Why a push was not inserted. Stands in the place of its id as a number, which is negative or 0. */
export const REFUSALS = ['used', 'inactive', 'abandoned'] as const
export type Refusal = (typeof REFUSALS)[number]
const numberOf = (refusal: Refusal) => -REFUSALS.indexOf(refusal)

const WHOLE_RESULT = `
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

/** Its row has one array: for each push its id, or the number of its refusal. `commit` is a transaction by itself. */
export const INSERT_PLAIN = {
  insert: `${PLAIN_CTES} ${RETURN} (${PLAIN_RESULT}) AS ids`,
  commit: `${PLAIN_CTES} ${commit(PLAIN_RESULT, PLAIN.length + 1)}`,
}
export const INSERT_WHOLE = {
  insert: `${WHOLE_CTES} ${RETURN} (${WHOLE_RESULT}) AS ids`,
  commit: `${WHOLE_CTES} ${commit(WHOLE_RESULT, NOW + 1)}`,
}
