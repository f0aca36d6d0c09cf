// Pushes on a real database: claims that race, secrets that vanish, logs that end.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY } from '../../../../src/domain/time.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../../../support/store.ts'

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

const kindsOf = (id: number) =>
  readRows(`SELECT kind FROM audit_entries WHERE push_id = ${id} ORDER BY n`).map(
    (row) => (row as { kind: string }).kind,
  )

test('however readers and deletes race, a payload is claimed at most as often as allowed', async () => {
  const race = fc.asyncProperty(
    fc.integer({ min: 1, max: 8 }),
    fc.array(fc.constantFrom('read', 'delete'), { minLength: 1, maxLength: 40 }),
    async (views, visits) => {
      const push = await storePush(test_, { expireAfterViews: views })
      const { id } = push
      const outcomes = await Promise.all(
        visits.map((visit) =>
          visit === 'read'
            ? view(test_, push).then((claimed) => claimed?.outcome)
            : test_.store.pushes.expirePush({ id, visit: VISIT }).then(() => 'deleted'),
        ),
      )
      const firstDelete = visits.indexOf('delete')
      const readsBefore = visits.slice(0, firstDelete === -1 ? undefined : firstDelete).length
      const claimed = outcomes.filter((outcome) => outcome === 'view').length
      expect(claimed).toBe(Math.min(views, readsBefore))
      const kinds = kindsOf(id)
      expect(kinds.filter((kind) => kind === 'view')).toHaveLength(claimed)
      expect(kinds.filter((kind) => kind === 'expire').length).toBe(
        firstDelete >= 0 && firstDelete < views ? 1 : 0,
      )
    },
  )
  await fc.assert(race, { numRuns: 60 })
})

test('the last view destroys the secrets in its own commit', async () => {
  const push = await storePush(test_, { expireAfterViews: 1 })
  const claimed = await view(test_, push)
  expect(claimed?.outcome).toBe('view')
  expect((await test_.store.pushes.findSealedPush(push.lookup))?.sealed).toBeNull()
  expect(readRows('SELECT * FROM push_secrets')).toEqual([])
})

test('a push that is only found stays as it is', async () => {
  const { id, lookup } = await storePush(test_, { expireAfterViews: 1 })
  expect((await test_.store.pushes.findSealedPush(lookup))?.sealed?.secrets.payload).toHaveLength(62)
  expect((await test_.store.pushes.findPush(lookup))?.views).toBe(0)
  expect(kindsOf(id)).toEqual(['creation'])
})

test("an owner's own look is audited and not counted, and anybody else's is counted", async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  const owner = await test_.store.accounts.addAccount(account)
  const other = await test_.store.accounts.addAccount({ ...account, email: 'bob@example.org' })
  const { id } = await storePush(test_, { expireAfterViews: 2, ownerId: owner.id })
  const look = (lookBy: typeof owner) => test_.store.pushes.claimView({ id, visit: VISIT, lookBy })
  expect(await look(owner)).toMatchObject({ outcome: 'view', push: { views: 0, expiredOn: null } })
  expect(await look(other)).toMatchObject({ outcome: 'view', push: { views: 1, expiredOn: null } })
  expect(kindsOf(id)).toEqual(['creation', 'owner_view', 'view'])
})

test('a look at an anonymous push counts, whoever looks', async () => {
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: false }
  const lookBy = await test_.store.accounts.addAccount(account)
  const { id } = await storePush(test_)
  const claimed = await test_.store.pushes.claimView({ id, visit: VISIT, lookBy })
  expect(claimed?.push.views).toBe(1)
})

test('expiry by time keeps the moment it was due, whoever notices', async () => {
  const asked = await storePush(test_)
  const swept = await storePush(test_)
  test_.clock.advance(3 * DAY)
  const claimed = await view(test_, asked)
  expect(claimed).toMatchObject({ outcome: 'expired', push: { expiredOn: asked.expiresAt } })
  expect(await test_.store.expiry.expireLapsed()).toBe(1)
  expect((await test_.store.pushes.findPush(swept.lookup))?.expiredOn).toBe(swept.expiresAt)
  expect(kindsOf(swept.id)).toEqual(['creation'])
})

test('a push that did not say whether viewers may delete it keeps that', async () => {
  const { lookup } = await storePush(test_, { deletableByViewer: null })
  expect((await test_.store.pushes.findPush(lookup))?.deletableByViewer).toBeNull()
})

test('purging leaves no trace of what is due and touches nothing else', async () => {
  const old = await storePush(test_, { expireAfterViews: 2 })
  const fresh = await storePush(test_)
  for (let i = 0; i < 3; i += 1) await view(test_, old)
  test_.clock.advance(1)
  const until = test_.clock.now()
  expect(await test_.store.expiry.purgeExpired({ of: 'owned', until })).toBe(0)
  expect(await test_.store.expiry.purgeExpired({ of: 'anonymous', until: until - DAY })).toBe(0)
  expect(await test_.store.expiry.purgeExpired({ of: 'anonymous', until })).toBe(1)
  expect(await test_.store.pushes.findPush(old.lookup)).toBeNull()
  expect(kindsOf(old.id)).toEqual([])
  expect(kindsOf(fresh.id)).toEqual(['creation'])
  expect(await view(test_, old)).toBeNull()
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
  const queries = [
    'SELECT * FROM pushes WHERE lookup = ?',
    'SELECT * FROM push_secrets WHERE push_id = ?',
    'SELECT * FROM pushes WHERE expired_on IS NULL AND expires_at <= ? ORDER BY expires_at LIMIT 100',
    'SELECT id FROM pushes WHERE expired_on IS NOT NULL AND owner_id IS NULL AND expired_on <= ? ORDER BY expired_on LIMIT 100',
    'SELECT id FROM pushes WHERE expired_on IS NOT NULL AND owner_id IS NOT NULL AND expired_on <= ? ORDER BY expired_on LIMIT 100',
    'SELECT id FROM pushes WHERE owner_id = ? AND (expired_on IS NOT NULL) = ? ORDER BY id DESC LIMIT 50',
    'SELECT id FROM pushes WHERE owner_id = ? LIMIT 100',
    'SELECT * FROM pushes WHERE owner_id = ? AND (expired_on IS NOT NULL) = 0 AND expires_at <= ? LIMIT 100',
    'SELECT id FROM files_due WHERE push_id = ? AND at > ? LIMIT 1',
    "SELECT id FROM audit_entries WHERE push_id = ? AND n >= ? AND n > 0 AND n % 100 = 0 AND kind NOT IN ('failed_view', 'failed_passphrase', 'owner_view') ORDER BY n LIMIT 1",
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
    expect({ sql, plan: plan.filter((step) => /SCAN|TEMP B-TREE/.test(step)) }).toEqual({ sql, plan: [] })
  }
  database.close()
})
