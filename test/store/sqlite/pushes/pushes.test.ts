// The promises that only SQLite's tables show: what the last view deletes, and which index each query takes.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openTestStore, storePush, type TestStore, view } from '../../../support/store.ts'

let test_: TestStore

beforeEach(async () => {
  test_ = await openTestStore()
})

afterEach(() => test_.close())

function readRows(sql: string): unknown[] {
  const database = new Database(join(test_.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query(sql).all()
  } finally {
    database.close()
  }
}

test('the last view deletes the row of the secrets in its own commit', async () => {
  await view(test_, await storePush(test_, { expireAfterViews: 1 }))
  expect(readRows('SELECT * FROM push_secrets')).toEqual([])
})

test('the first views of pushes divide no page of their states', async () => {
  const pages = () => readRows("SELECT pageno FROM dbstat WHERE name = 'push_state' ORDER BY pageno")
  const stored = await Promise.all(Array.from({ length: 1_000 }, () => storePush(test_)))
  const before = pages()
  expect(before.length).toBeGreaterThan(5)
  await Promise.all(stored.map((push) => view(test_, push)))
  expect(pages()).toEqual(before)
})

test('what ends next is the first of an index', () => {
  const database = new Database(join(test_.dataDir, 'oncebox.db'), { readonly: true })
  const planOf = (sql: string) =>
    database
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
  expect(
    planOf('SELECT id, expires_at FROM pushes WHERE expired_on IS NULL ORDER BY expires_at LIMIT 1'),
  ).toEqual(['SCAN pushes USING INDEX pushes_live'])
  expect(planOf('SELECT at FROM files_due WHERE at IS NOT NULL ORDER BY at LIMIT 1')).toEqual([
    expect.stringContaining('INDEX files_due_at'),
  ])
  database.close()
})

test('no query of a request, a list or the sweeper scans a table', () => {
  const database = new Database(join(test_.dataDir, 'oncebox.db'), { readonly: true })
  const [live, ended] = ['expired_on IS NULL', 'expired_on IS NOT NULL']
  const queries = [
    'SELECT * FROM push_state WHERE push_id = (SELECT push_id FROM push_links WHERE lookup = ?)',
    'UPDATE push_links SET lookup = ? WHERE lookup = ?',
    'DELETE FROM push_links WHERE lookup = ?',
    'SELECT *, (SELECT wrapped_key FROM push_keys WHERE slot = key_slot) FROM push_secrets WHERE push_id = ?',
    'SELECT slot FROM push_keys WHERE is_free ORDER BY slot LIMIT 1',
    'SELECT * FROM push_state WHERE push_id IN (?, ?) ORDER BY push_id',
    `SELECT id FROM pushes WHERE ${live} AND expires_at <= ? ORDER BY expires_at, id LIMIT 100`,
    `SELECT id FROM pushes WHERE ${ended} AND owner_id IS NULL AND expired_on <= ? ORDER BY expired_on LIMIT 100`,
    `SELECT id FROM pushes WHERE ${ended} AND owner_id IS NOT NULL AND expired_on <= ? ORDER BY expired_on LIMIT 100`,
    `SELECT id FROM pushes WHERE owner_id = ? AND ${live} AND id < ? ORDER BY id DESC LIMIT 50`,
    `SELECT id FROM pushes WHERE owner_id = ? AND ${ended} AND id < ? ORDER BY id DESC LIMIT 50`,
    `SELECT * FROM pushes JOIN push_state ON push_id = id WHERE owner_id = ? AND ${ended} AND id < ? ORDER BY id DESC LIMIT 500`,
    `SELECT id FROM pushes WHERE owner_id = ? AND ${live} ORDER BY id LIMIT 100`,
    `SELECT id FROM pushes WHERE ${live} AND (expires_at, id) > (?, ?) ORDER BY expires_at, id LIMIT 1 OFFSET 9999`,
    'SELECT id FROM files_due WHERE push_id = ? AND at > ? LIMIT 1',
    `WITH RECURSIVE log (id) AS (SELECT last_entry FROM push_state WHERE push_id = ? UNION ALL
      SELECT previous FROM log JOIN audit_entries AS entry ON entry.id = log.id) SELECT id FROM log LIMIT 1000`,
    'SELECT * FROM audit_entries WHERE id IN (?, ?) AND push_id = ? ORDER BY id',
    'DELETE FROM audit_entries WHERE id IN (?, ?) AND push_id = ?',
    'SELECT * FROM live_shares WHERE address = ? ORDER BY expires_at LIMIT 1000',
    'SELECT * FROM idempotency_keys WHERE lookup = ?',
    'SELECT * FROM idempotency_keys WHERE push_id = ?',
    'SELECT * FROM idempotency_keys WHERE lapses_at <= ? ORDER BY lapses_at LIMIT 100',
    'SELECT * FROM api_tokens JOIN accounts ON accounts.id = account_id WHERE hash = ?',
  ]
  for (const sql of queries) {
    const plan = database
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => detail)
    expect({
      sql,
      plan: plan.filter((step) => /SCAN(?! log$| \w+ USING INDEX \w+_free)|TEMP B-TREE/.test(step)),
    }).toEqual({ sql, plan: [] })
  }
  database.close()
})
