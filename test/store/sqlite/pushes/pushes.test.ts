// Guarantees that only SQLite's tables show: what the last view deletes, and that views split no page.

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

test('a first view splits no B-tree page of push_state', async () => {
  const pages = () => readRows("SELECT pageno FROM dbstat WHERE name = 'push_state' ORDER BY pageno")
  const stored = await Promise.all(Array.from({ length: 1_000 }, () => storePush(test_)))
  const before = pages()
  expect(before.length).toBeGreaterThan(5)
  await Promise.all(stored.map((push) => view(test_, push)))
  expect(pages()).toEqual(before)
})
