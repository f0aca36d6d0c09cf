// What is kept of a database from before a migration: enough to go back to the former version, nothing that opens a push.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKeyFile } from '../../../../src/crypto/keyring.ts'
import { MIGRATIONS, migrate } from '../../../../src/store/sqlite/engine/migrate.ts'
import { openTestStore, type TestStore } from '../../../support/store.ts'

let dataDir: string
let opened: TestStore | null

beforeEach(() => {
  opened = null
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-before-'))
})

afterEach(async () => {
  await opened?.store.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const FORMER = 4
const WRAPPED_KEY = Buffer.from('the-wrapped-key-of-a-push'.padEnd(62, '.'))
const PAYLOAD = Buffer.from('the-sealed-payload-of-a-push')
const SALT = Buffer.from('salt-of-a-push..')

/** As a former version left it: an account with a live push, its file, a burned one, a session and an invitation. */
function makeFormerDatabase(): void {
  writeFileSync(join(dataDir, 'instance.key'), newKeyFile(), { mode: 0o600 })
  const database = new Database(join(dataDir, 'oncebox.db'))
  database.run('PRAGMA journal_mode = WAL')
  migrate(database, MIGRATIONS.slice(0, FORMER))
  database.run(
    "INSERT INTO accounts (id, email, password_hash, is_admin, created_at) VALUES (7, 'ann@example.org', 'hash', 1, 100)",
  )
  database.run(
    "INSERT INTO api_tokens (account_id, name, prefix, hash, created_at) VALUES (7, 'cli', 'obx', randomblob(32), 100)",
  )
  database.run(
    "INSERT INTO sessions (account_id, hash, created_at, last_seen_at, ip, user_agent) VALUES (7, randomblob(32), 1, 1, '', '')",
  )
  database.run(
    "INSERT INTO account_links (hash, purpose, is_admin, ends_two_factor, created_at, expires_at) VALUES (randomblob(32), 'setup', 1, 0, 1, 9e12)",
  )
  for (const [id, expiredOn] of [
    [1, null],
    [2, 150],
  ]) {
    database.run(
      `INSERT INTO pushes (id, lookup, key_number, kind, owner_id, created_at, updated_at, expires_at, expire_after_days,
         expire_after_views, views, retrieval_step, passphrase_required, wrong_tries, wrong_tries_since, expired_on,
         deleted, files, last_entry, audit_entries, audit_dropped)
       VALUES (?, randomblob(16), 1, 'text', 7, 100, 100, 9000000000000, 1, 5, 0, 0, 0, 0, 100, ?, 0, 1, ?, 1, 0)`,
      [id as number, expiredOn as number | null, id as number],
    )
    database.run(
      "INSERT INTO audit_entries (id, push_id, n, kind, at, ip, user_agent, referrer) VALUES (?, ?, 0, 'creation', 100, '192.0.2.1', '', '')",
      [id as number, id as number],
    )
    database.run("INSERT INTO push_labels (push_id, url_token, name) VALUES (?, x'00', x'01')", [
      id as number,
    ])
  }
  database.run('INSERT INTO push_keys (slot, wrapped_key) VALUES (1, ?)', [WRAPPED_KEY])
  database.run('INSERT INTO push_secrets (push_id, key_slot, salt, payload) VALUES (1, 1, ?, ?)', [
    SALT,
    PAYLOAD,
  ])
  database.run("INSERT INTO push_files VALUES (1, 0, 'the-file', 5, x'02', x'03')")
  database.close()
}

const copies = () => readdirSync(dataDir).filter((name) => name.startsWith('before-update'))
const COPY = `before-update-from-${FORMER}.db`

async function start(options: Partial<Parameters<typeof openTestStore>[0]> = {}): Promise<string[]> {
  const warnings: string[] = []
  opened = await openTestStore({ dataDir, onWarning: (warning) => warnings.push(warning), ...options })
  return warnings
}

async function startAgain(): Promise<void> {
  await opened?.store.close()
  await start()
}

test('a new folder, and one of this version, get no copy', async () => {
  await start()
  await startAgain()
  expect(copies()).toEqual([])
})

test('before a migration a copy is made that only its user may read, and its place is told', async () => {
  makeFormerDatabase()
  const warnings = await start()
  expect(copies()).toEqual([COPY])
  expect(warnings.join()).toContain(join(dataDir, COPY))
  expect(statSync(join(dataDir, COPY)).mode & 0o777).toBe(0o600)
  const copy = new Database(join(dataDir, COPY), { readonly: true })
  expect(copy.query('PRAGMA user_version').get()).toEqual({ user_version: FORMER })
  expect(copy.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(copy.query('PRAGMA foreign_key_check').all()).toEqual([])
  const schemaOf = (database: Database) =>
    database.query('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql').all()
  const former = new Database(':memory:')
  migrate(former, MIGRATIONS.slice(0, FORMER))
  expect(schemaOf(copy)).toEqual(schemaOf(former))
  copy.close()
})

test('nothing in the copy opens a push, a session or a link', async () => {
  makeFormerDatabase()
  await start()
  const bytes = readFileSync(join(dataDir, COPY))
  for (const needle of [WRAPPED_KEY, PAYLOAD, SALT]) expect(bytes.includes(needle)).toBe(false)
  const copy = new Database(join(dataDir, COPY), { readonly: true })
  const counts = copy
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => [name, copy.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${name}`).get()?.n])
  expect(Object.fromEntries(counts)).toEqual({
    instance: 1,
    instance_keys: 0,
    accounts: 1,
    api_tokens: 1,
    recovery_codes: 0,
    sessions: 0,
    account_links: 0,
    pushes: 2,
    push_secrets: 0,
    push_keys: 0,
    push_files: 0,
    push_labels: 2,
    audit_entries: 2,
    // The file of the push that has ended in the copy.
    files_due: 1,
  })
  expect(copy.query('SELECT count(*) AS n FROM pushes WHERE expired_on IS NULL').get()).toEqual({ n: 0 })
  copy.close()
})

test('a folder made of the copy serves accounts, lists and logs, and pushes that have ended', async () => {
  makeFormerDatabase()
  await start()
  const restored = mkdtempSync(join(tmpdir(), 'oncebox-restored-'))
  cpSync(join(dataDir, 'instance.key'), join(restored, 'instance.key'))
  cpSync(join(dataDir, COPY), join(restored, 'oncebox.db'))
  const again = await openTestStore({ dataDir: restored })
  expect((await again.store.accounts.findAccount('ann@example.org'))?.id).toBe(7)
  const { damaged, pushes } = await again.store.lists.listPushes({ ownerId: 7, expired: true, pageNumber: 1 })
  expect({ damaged, ids: pushes.map(({ push }) => push.id) }).toEqual({ damaged: 0, ids: [2, 1] })
  for (const { push } of pushes) expect(await again.store.audit.listPage(push, 1)).toHaveLength(1)
  await again.close()
})

test('the copy is kept through its own start, and goes when the next one went well', async () => {
  makeFormerDatabase()
  await start()
  opened?.store.confirmStart()
  expect(copies()).toEqual([COPY])
  await startAgain()
  expect(copies()).toEqual([COPY])
  opened?.store.confirmStart()
  expect(copies()).toEqual([])
})

test('what a start that was killed has left of a copy is made anew, and goes like one', async () => {
  makeFormerDatabase()
  writeFileSync(join(dataDir, `${COPY}.part`), 'half of a copy')
  writeFileSync(join(dataDir, 'before-update-from-3.db.part'), 'half of a copy')
  await start()
  expect(existsSync(join(dataDir, `${COPY}.part`))).toBe(false)
  expect(readFileSync(join(dataDir, COPY)).toString('latin1')).toStartWith('SQLite format 3')
  opened?.store.confirmStart()
  expect(copies()).toEqual([COPY])
})

test('on a disk without room for it the update goes on without a copy, and says so', async () => {
  makeFormerDatabase()
  const warnings = await start({ minFreeSpace: Number.MAX_SAFE_INTEGER })
  expect(copies()).toEqual([])
  expect(warnings.join()).toContain('no room for a copy')
  expect((await opened?.store.accounts.findAccount('ann@example.org'))?.id).toBe(7)
})

test('a migration that fails keeps the copy, and the database as it was', async () => {
  makeFormerDatabase()
  const database = new Database(join(dataDir, 'oncebox.db'))
  database.run('CREATE TABLE new_accounts (id)')
  database.close()
  await expect(start()).rejects.toThrow()
  expect(copies()).toEqual([COPY])
  const kept = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  expect(kept.query('SELECT count(*) AS n FROM push_secrets').get()).toEqual({ n: 1 })
  kept.close()
})
