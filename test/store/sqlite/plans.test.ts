// How SQLite runs every statement of the store: through an index, unless a reason is given here.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { $ } from 'bun'
import { openLinks } from '../../../src/store/sqlite/links.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'

const CHILD = join(import.meta.dir, '../../support/statements-child.ts')

let opened: TestStore
let database: Database
let texts: string[]

beforeAll(async () => {
  const { stdout } = await $`${process.execPath} ${CHILD}`.quiet()
  texts = JSON.parse(stdout.toString()).map((text: string) => text.replace(/\s+/g, ' '))
  opened = await openTestStore()
  database = new Database(join(opened.dataDir, 'oncebox.db'))
  // The statements also name a temporary table, which belongs to the connection.
  openLinks(database)
})

afterAll(async () => {
  database.close()
  await opened.close()
})

/** Steps over a table of one row, over a few rows that the statement has found, or in order of an index. */
const CHEAP = new RegExp(
  [
    '^SCAN (instance|bucket_folder|appearance|soon_told|CONSTANT ROW)$',
    // A key is added only by `oncebox key rotate`.
    '^SCAN instance_keys$',
    '^SCAN (log|newest|unseen|step)$',
    // Only the rows that match are in these indexes.
    '^SCAN \\w+ USING INDEX (pushes_live|\\w+_free|accounts_admins)$',
    '^SCAN outbox USING COVERING INDEX outbox_due$',
  ].join('|'),
)

/** A part of a statement, and why it may read or sort a whole table. */
const ALLOWED: readonly [part: string, reason: string][] = [
  ['FROM push_files ORDER BY push_id DESC', 'reads eight rows, and sorts the files of one push'],
  ['FROM files_due LIMIT 8', 'reads eight rows'],
  ['FROM requests WHERE expires_at <= $1 OR closed_at <= $1', 'the sweeper, once an hour; requests are few'],
  ['FROM sessions WHERE last_seen_at <= $1 OR', 'once a sign-in, which takes longer for its hash'],
  ['FROM account_links WHERE purpose', 'links live for a day at most, and are few'],
  ['FROM accounts ORDER BY email', 'the command that lists all accounts'],
  ["email LIKE '%' || $1", 'no index finds a part of an address'],
  ['FROM webhooks WHERE last_error IS NOT NULL', 'health: accounts have a few webhooks each'],
  ['AS failed FROM outbox GROUP BY kind', 'health: the room of the outbox is bounded for each account'],
  ['UPDATE outbox SET at = CASE', 'once, after the clock was ahead'],
  ['INSERT INTO event_counts (account_id, last) SELECT', 'a restore'],
  ['FROM audit_entries) AS entries', 'backup and restore count everything once'],
  ['FROM api_tokens JOIN accounts', 'a restore lists all tokens'],
  ['count(*) AS n FROM push_secrets', 'doctor looks through a whole database'],
  ['expires_at <= $2)', 'the lists of an owner while the clock is in doubt'],
  ...[
    ['AS head, count(*) AS rows FROM outbox WHERE kind IN', 'key rotation'],
    ["THEN 'live push' ELSE 'ended push'", 'key rotation'],
    ["SELECT 'second factor' AS kind", 'key rotation'],
    ['FROM accounts WHERE totp_secret IS NOT NULL', 'key rotation'],
    ['FROM webhooks ORDER BY id', 'key rotation'],
    ['FROM requests ORDER BY id', 'key rotation and restore'],
  ].map(([part = '', reason = '']): [string, string] => [part, reason]),
]

/** A part of a statement, and why it may sort rows that it found through an index. */
const SORTED: readonly [part: string, reason: string][] = [
  ['FROM sessions WHERE account_id = $1', 'sorts the sessions of one account'],
  ['FROM api_tokens WHERE account_id = $1', 'sorts the tokens of one account'],
]

function readPlan(sql: string): string[] {
  const steps = database.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all()
  return steps
    .map(({ detail }) => detail)
    .filter((step) => /^SCAN|TEMP B-TREE/.test(step) && !CHEAP.test(step))
}

test('no statement of the store reads or sorts a whole table without a reason', () => {
  const found = texts.map((sql) => ({ sql, plan: readPlan(sql) })).filter(({ plan }) => plan.length > 0)
  const isAllowed = ({ sql, plan }: (typeof found)[number]) =>
    ALLOWED.some(([part]) => sql.includes(part)) ||
    (SORTED.some(([part]) => sql.includes(part)) && !plan.some((step) => step.startsWith('SCAN')))
  expect(texts.length).toBeGreaterThan(250)
  expect(found.filter((statement) => !isAllowed(statement))).toEqual([])
  expect([...ALLOWED, ...SORTED].filter(([part]) => !found.some(({ sql }) => sql.includes(part)))).toEqual([])
})
