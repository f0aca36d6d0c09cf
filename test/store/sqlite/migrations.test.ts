// Databases of former versions: migrated completely, or left unchanged.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MIGRATIONS, migrate, schemaVersion } from '../../../src/store/sqlite/migrate.ts'
import { openTestStore, storePush } from '../../support/store.ts'

const NEXT = 'ALTER TABLE pushes ADD COLUMN colour TEXT; UPDATE pushes SET colour = kind'

/** Opens a database with the schema of this version. */
function openCurrent(): Database {
  const database = new Database(':memory:')
  database.run('PRAGMA foreign_keys = ON')
  migrate(database)
  database.run(
    "INSERT INTO accounts (id, email, password_hash, is_admin, created_at, last_sign_in_at) VALUES (3, 'ann@example.org', 'x', 1, 1, 0)",
  )
  database.run('INSERT INTO recovery_codes (account_id, hash) VALUES (3, randomblob(32))')
  return database
}

const foreignKeys = (database: Database) =>
  database.query<{ foreign_keys: number }, []>('PRAGMA foreign_keys').get()?.foreign_keys

test('a database is migrated with all its rows, and foreign keys are enforced afterwards', () => {
  const database = openCurrent()
  migrate(database, [...MIGRATIONS, NEXT])
  expect(schemaVersion(database)).toBe(MIGRATIONS.length + 1)
  expect(database.query('SELECT email FROM accounts').all()).toEqual([{ email: 'ann@example.org' }])
  expect(foreignKeys(database)).toBe(1)
  database.run('DELETE FROM accounts')
  expect(database.query('SELECT 1 FROM recovery_codes').all()).toEqual([])
})

test.each([
  ['fails', 'SELECT nonsense();'],
  ['would break references', "DELETE FROM accounts; SELECT 'the codes of the account stay'"],
])('a migration that %s leaves the database as it was', (_, last) => {
  const database = openCurrent()
  expect(() => migrate(database, [...MIGRATIONS, NEXT, last])).toThrow()
  expect(schemaVersion(database)).toBe(MIGRATIONS.length)
  expect(database.query("SELECT 1 FROM pragma_table_info('pushes') WHERE name = 'colour'").get()).toBeNull()
  expect(foreignKeys(database)).toBe(1)
})

test('a newer database is refused', () => {
  const database = openCurrent()
  database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`)
  expect(() => migrate(database)).toThrow('newer Oncebox')
})

test('a new account never reuses the id of a removed one, even after a restart', async () => {
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
