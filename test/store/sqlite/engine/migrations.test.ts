// Databases of former versions, brought up to date with everything in them.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS, migrate, schemaVersion } from '../../../../src/store/sqlite/engine/migrate.ts'
import { openTestStore, storePush } from '../../../support/store.ts'

/** As the versions of Oncebox before the numbered migration left it. */
function databaseOf(version: number): Database {
  const database = new Database(':memory:')
  database.run('PRAGMA foreign_keys = ON')
  migrate(database, MIGRATIONS.slice(0, version))
  return database
}

/** An account and a row of every kind that refers to it. */
function addAccount(database: Database, { id, email }: { id: number; email: string }): void {
  const rows = [
    `INSERT INTO accounts (id, email, password_hash, is_admin, created_at, totp_step, checksum)
       VALUES (${id}, '${email}', 'hash of ${id}', 1, 100, 7, 4711)`,
    `INSERT INTO api_tokens (account_id, name, prefix, hash, created_at)
       VALUES (${id}, 'backup', 'obx_', randomblob(32), 100)`,
    `INSERT INTO recovery_codes (account_id, hash) VALUES (${id}, randomblob(32))`,
    `INSERT INTO sessions (account_id, hash, created_at, last_seen_at, ip, user_agent)
       VALUES (${id}, randomblob(32), 100, 100, '192.0.2.1', '')`,
    `INSERT INTO account_links
       (hash, purpose, account_id, is_admin, ends_two_factor, created_by, created_at, expires_at)
       VALUES (randomblob(32), 'reset', ${id}, 0, 0, ${id}, 100, 200)`,
    `INSERT INTO pushes (lookup, key_number, kind, owner_id, created_at, updated_at, expires_at,
       expire_after_days, expire_after_views, views, retrieval_step, passphrase_required, wrong_tries,
       wrong_tries_since, deleted, files, audit_entries, audit_dropped)
       VALUES (randomblob(16), 1, 'text', ${id}, 100, 100, 200, 1, 5, 0, 0, 0, 0, 100, 0, 0, 0, 0)`,
  ]
  for (const row of rows) database.run(row)
}

const REFERRING = ['api_tokens', 'recovery_codes', 'sessions', 'account_links', 'pushes']

const countsOf = (database: Database) =>
  ['accounts', ...REFERRING].map((table) => ({
    table,
    rows: database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n,
  }))

test('accounts keep their ids and rows, and everything that refers to them', () => {
  const database = databaseOf(4)
  addAccount(database, { id: 3, email: 'ann@example.org' })
  addAccount(database, { id: 8, email: 'bob@example.org' })
  const before = database.query<object, []>('SELECT * FROM accounts ORDER BY id').all()
  const counts = countsOf(database)
  migrate(database)
  expect(database.query('SELECT * FROM accounts ORDER BY id').all()).toEqual(
    before.map((row) => ({ ...row, last_sign_in_at: 0, resets: 0 })),
  )
  expect(countsOf(database)).toEqual(counts)
  expect(database.query('PRAGMA foreign_key_check').all()).toEqual([])
  expect(database.query<{ integrity_check: string }, []>('PRAGMA integrity_check').get()).toEqual({
    integrity_check: 'ok',
  })
})

test('references are held to again after a migration: what belongs to an account goes with it', () => {
  const database = databaseOf(4)
  addAccount(database, { id: 3, email: 'ann@example.org' })
  migrate(database)
  expect(() => database.run('UPDATE pushes SET owner_id = 99')).toThrow('FOREIGN KEY')
  database.run('DELETE FROM pushes')
  database.run('DELETE FROM accounts')
  expect(countsOf(database).map(({ rows }) => rows)).toEqual([0, 0, 0, 0, 0, 0])
})

test('references are held to again after a migration that failed', () => {
  const database = databaseOf(4)
  expect(() => migrate(database, [...MIGRATIONS, 'SELECT nonsense();'])).toThrow()
  expect(schemaVersion(database)).toBe(4)
  expect(database.query<{ foreign_keys: number }, []>('PRAGMA foreign_keys').get()?.foreign_keys).toBe(1)
})

test('an id that the last account had before the migration is not used again after it', () => {
  const database = databaseOf(4)
  addAccount(database, { id: 8, email: 'bob@example.org' })
  migrate(database)
  database.run('DELETE FROM pushes')
  database.run('DELETE FROM accounts')
  const add = database.query<{ id: number }, []>(
    "INSERT INTO accounts (email, password_hash, is_admin, created_at) VALUES ('eve@example.org', 'x', 0, 1) RETURNING id",
  )
  expect(add.get()?.id).toBe(9)
})

test('a new account never has the id of one that was removed, also after a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'oncebox-ids-'))
  const account = (email: string) => ({ email, passwordHash: 'x', isAdmin: false })
  const first = await openTestStore({ dataDir })
  const removed = await first.store.accounts.addAccount(account('ann@example.org'))
  await first.store.accounts.removeAccount(removed.id)
  await first.store.close()
  const second = await openTestStore({ dataDir })
  const { id } = await second.store.accounts.addAccount(account('bob@example.org'))
  expect(id).toBeGreaterThan(removed.id)
  await expect(storePush(second, { ownerId: removed.id })).rejects.toThrow('not active')
  await second.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A log as it was kept before its bounds: the first failures in the main chain, later ones and looks of the owner in chains of their own. */
const LONG_LOG = `
  INSERT INTO pushes (id, lookup, key_number, kind, created_at, updated_at, expires_at, expire_after_days, expire_after_views,
    views, retrieval_step, passphrase_required, wrong_tries, wrong_tries_since, deleted, files, audit_dropped,
    audit_entries, last_entry, failures, last_failure, owner_views, last_owner_view, checksum)
  VALUES (1, randomblob(16), 1, 'text', 0, 0, 9, 1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 503, 2000, 1200, 1900, 600, 1100, 4711),
    (2, randomblob(16), 1, 'text', 0, 0, 9, 1, 5, 1, 0, 0, 0, 0, 0, 0, 0, 2, 3002, 0, 0, 0, 0, 4711);
  WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 1300)
  INSERT INTO audit_entries (id, push_id, n, previous, kind, at, ip, user_agent, referrer, checksum)
    SELECT 1 + n, 1, n, nullif(n, 0), iif(n = 0, 'creation', 'failed_view'), n, '192.0.2.1', '', '', 4711 FROM n WHERE n <= 500
    UNION ALL SELECT 501 + n, 1, n - 1, nullif(500 + n, 501), 'owner_view', n, '192.0.2.2', '', '', 4711 FROM n
      WHERE n BETWEEN 1 AND 600
    UNION ALL SELECT 1200 + n, 1, n - 1, nullif(1199 + n, 1200), 'failed_view', n, '192.0.2.3', '', '', 4711 FROM n
      WHERE n BETWEEN 1 AND 700
    UNION ALL SELECT 2000 - 1 + n, 1, 500 + n, iif(n = 0, 501, 1998 + n), iif(n = 1, 'edit', 'view'), n, '192.0.2.4', '', '', 4711 FROM n
      WHERE n BETWEEN 1 AND 1;
  INSERT INTO audit_entries (id, push_id, n, previous, kind, at, ip, user_agent, referrer, checksum) VALUES
    (3001, 2, 0, NULL, 'creation', 1, '192.0.2.5', '', '', 4711),
    (3002, 2, 1, 3001, 'view', 2, 'fe80::1%' || hex(zeroblob(900)), hex(zeroblob(900)), 'https://' || hex(zeroblob(900)), 4711);`

test('a log from before its bounds keeps its first entries in one chain, cut texts, and counts the rest', () => {
  const database = databaseOf(22)
  database.run(LONG_LOG)
  migrate(database)
  const [push, other] = database.query<Record<string, unknown>, []>('SELECT * FROM pushes ORDER BY id').all()
  expect(push).toMatchObject({
    ...{
      audit_entries: 1 + 500 + 500 + 1,
      failures: 1_200,
      counted_failures: 700,
      owner_views: 600,
      edits: 1,
    },
    ...{ counted_at: 700, counted_from: '192.0.2.3', last_entry: 2_000, checksum: null },
  })
  expect(other).toMatchObject({
    audit_entries: 2,
    last_entry: 3_002,
    counted_at: 0,
    counted_from: '',
    checksum: 4_711,
  })
  const rows = database
    .query<{ id: number; n: number; previous: number | null }, []>(
      'SELECT id, n, previous FROM audit_entries WHERE push_id = 1 ORDER BY id',
    )
    .all()
  expect(rows.map(({ n }) => n)).toEqual(rows.map((_, n) => n))
  expect(rows.map(({ previous }) => previous)).toEqual(rows.map((_, n) => rows[n - 1]?.id ?? null))
  const longest =
    'SELECT max(length(ip)) AS ip, max(length(user_agent)) AS agent, max(length(referrer)) AS referrer'
  expect(database.query(`${longest} FROM audit_entries`).get()).toEqual({ ip: 45, agent: 255, referrer: 0 })
  const sums = database.query<{ checksum: number | null }, []>(
    'SELECT checksum FROM audit_entries WHERE push_id = 2 ORDER BY id',
  )
  expect(sums.all()).toEqual([{ checksum: 4_711 }, { checksum: null }])
})
