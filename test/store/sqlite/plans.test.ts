// How SQLite runs every statement of the store: through an index, unless a reason is listed here.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { $ } from 'bun'
import { openLinks } from '../../../src/store/sqlite/links.ts'
import { openTestStore, type TestStore } from '../../support/store.ts'
import { WHOLE_READS } from '../../support/whole-reads.ts'

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
    '^SCAN (log|fresh|newest|unseen|step)$',
    // These indexes hold only the matching rows.
    '^SCAN \\w+ USING INDEX (pushes_live|\\w+_free|accounts_admins)$',
    '^SCAN outbox USING COVERING INDEX outbox_due$',
  ].join('|'),
)

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
    WHOLE_READS.some(([part]) => sql.includes(part)) ||
    (SORTED.some(([part]) => sql.includes(part)) && !plan.some((step) => step.startsWith('SCAN')))
  expect(texts.length).toBeGreaterThan(250)
  expect(found.filter((statement) => !isAllowed(statement))).toEqual([])
  expect(
    [...WHOLE_READS, ...SORTED].filter(([part]) => !found.some(({ sql }) => sql.includes(part))),
  ).toEqual([])
})
