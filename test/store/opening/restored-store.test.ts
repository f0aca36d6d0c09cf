// The database of a backup: what is refused, what is found in it, and how a restore changes it.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newKeyFile, parseKeyFile } from '../../../src/crypto/keyring.ts'
import { visitFrom } from '../../../src/domain/audit.ts'
import { DAY } from '../../../src/domain/time.ts'
import { createEvents } from '../../../src/notices/events.ts'
import { openRestoredStore } from '../../../src/store/opening/restored-store.ts'
import type { OwnedPush } from '../../../src/store/pushes/rekeying.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/migrate.ts'
import { createTestClock, START, type TestClock } from '../../support/instance.ts'
import { copyKeyless, edit, makeDatabase, OPENING_TABLES } from '../../support/packed-backup.ts'
import { openTestStore, storePush, type TestStore, VISIT, view } from '../../support/store.ts'

let folder: string
let dataDir: string
/** The database of the backup, and the new one. */
let from: string
let path: string
let clock: TestClock

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-unpacked-'))
  dataDir = join(folder, 'data')
  from = join(folder, 'copy.db')
  path = join(folder, 'new.db')
  clock = createTestClock()
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const LABELS = { urlToken: Buffer.from('token'), name: Buffer.from('name'), note: null, request: null }
const RESTORE = visitFrom({ ip: '', userAgent: 'oncebox (restore)', referrer: '' })
const onProgress = () => undefined
const relink = (push: OwnedPush) => push

type Filled = { owner: number; viewed: number; lapsing: number; ended: number; anonymous: number }

/** A folder with an account, its pushes in all states, and an anonymous push; the server has ended. */
async function fill(): Promise<Filled> {
  const opened = await openTestStore({ dataDir, clock })
  const account = await opened.store.accounts.addAccount({
    email: 'ann@example.org',
    passwordHash: 'x',
    isAdmin: true,
  })
  const owned = (changes = {}) => storePush(opened, { ownerId: account.id, ...changes }, { labels: LABELS })
  const [viewed, lapsing, ended] = [await owned(), await owned({ expiresAt: START + 1000 }), await owned()]
  const anonymous = await storePush(opened)
  await view(opened, viewed)
  await opened.store.pushes.expirePush({ id: ended.id, visit: VISIT })
  await opened.store.apiTokens.addApiToken({
    ...{ accountId: account.id, name: 'laptop', prefix: 'obx_abc', hash: Buffer.alloc(32, 7), session: null },
  })
  await opened.store.close()
  return {
    owner: account.id,
    viewed: viewed.id,
    lapsing: lapsing.id,
    ended: ended.id,
    anonymous: anonymous.id,
  }
}

async function fillAndCopy(): Promise<Filled> {
  const filled = await fill()
  copyKeyless(dataDir, from)
  return filled
}

function open() {
  rmSync(path, { force: true })
  return openRestoredStore({ from, path, name: 'the backup' })
}

/** Serves the copy, with the key of the original folder. */
function serveCopy(): Promise<TestStore> {
  const restored = mkdtempSync(join(folder, 'restored-'))
  copyFileSync(path, join(restored, 'oncebox.db'))
  copyFileSync(join(dataDir, 'instance.key'), join(restored, 'instance.key'))
  return openTestStore({ dataDir: restored, clock })
}

async function endAll({ now = clock.now() } = {}): Promise<number> {
  const store = open()
  try {
    return await store.endLive({ now, visit: RESTORE, relink, onProgress })
  } finally {
    store.close()
  }
}

test('a restored store reports its content, and which pushes can still be opened', async () => {
  await fillAndCopy()
  const store = open()
  const content = await store.read(START + 2000)
  expect(content).toMatchObject({ accounts: 1, pushes: 4, active: 2, entries: 6, leftOut: 0 })
  expect(content.apiTokens).toEqual([
    { email: 'ann@example.org', name: 'laptop', prefix: 'obx_abc', lastUsedAt: null },
  ])
  store.close()
})

test('a live push is restored as lost, with a log entry; an ended one stays unchanged', async () => {
  const { owner, viewed, lapsing, ended, anonymous } = await fillAndCopy()
  clock.advance(2000)
  expect(await endAll()).toBe(2)
  const { store, close } = await serveCopy()
  const pushes = await store.lists.listPushes({ ownerId: owner, expired: true, pageNumber: 1 })
  expect(
    pushes.map(({ push: { id, lost, deleted, expiredOn } }) => ({ id, lost, deleted, expiredOn })),
  ).toEqual([
    { id: ended, lost: false, deleted: true, expiredOn: START },
    { id: lapsing, lost: false, deleted: false, expiredOn: START + 1000 },
    { id: viewed, lost: true, deleted: false, expiredOn: START + 2000 },
  ])
  const kinds = async (id: number) => (await store.audit.listPage({ id }, 1)).map(({ kind }) => kind)
  expect(await kinds(viewed)).toEqual(['creation', 'view', 'expire'])
  expect(await kinds(lapsing)).toEqual(['creation'])
  expect(await kinds(ended)).toEqual(['creation', 'expire'])
  expect((await store.audit.listPage({ id: anonymous }, 1)).at(-1)).toMatchObject({
    kind: 'expire',
    ...RESTORE,
  })
  expect(await store.lists.countOwned(owner)).toEqual({ active: 0, new: 3, expired: 0 })
  expect(await store.health.countPushes()).toEqual({ live: 0, expired: 4 })
  expect(await store.expiry.findNextLapse()).toBeNull()
  await close()
})

test('logs continue after a restore: a later visit is appended', async () => {
  const { viewed } = await fillAndCopy()
  await endAll()
  const { store, close } = await serveCopy()
  await view({ store }, { id: viewed })
  const log = await store.audit.listPage({ id: viewed }, 1)
  expect(log.map(({ kind }) => kind)).toEqual(['creation', 'view', 'expire', 'failed_view'])
  await close()
})

test('thousands of pushes are expired in steps, and a second run finds nothing to do', async () => {
  const opened = await openTestStore({ dataDir, clock })
  await Promise.all(Array.from({ length: 1_234 }, () => storePush(opened)))
  await opened.store.close()
  copyKeyless(dataDir, from)
  const told: number[] = []
  const store = open()
  const options = {
    now: START,
    visit: RESTORE,
    relink,
    onProgress: (done: number) => void told.push(done),
  }
  expect(await store.endLive(options)).toBe(1_234)
  expect(told).toEqual([500, 1000, 1234])
  expect(await store.endLive(options)).toBe(0)
  expect(await store.read(START)).toMatchObject({ active: 0, entries: 2 * 1_234, leftOut: 0 })
  store.close()
})

test('the first start after an old backup does not doubt the clock', async () => {
  await fillAndCopy()
  clock.set(START + 400 * DAY)
  await endAll()
  const { store, close } = await serveCopy()
  expect(store.clock.doubt()).toBeNull()
  await close()
})

test('API tokens are revoked on request', async () => {
  await fillAndCopy()
  const store = open()
  store.revokeApiTokens()
  expect((await store.read(START)).apiTokens).toEqual([])
  store.close()
})

test('no file beside the database is left', async () => {
  await fillAndCopy()
  await endAll()
  expect(readdirSync(folder).sort()).toEqual(['copy.db', 'data', 'new.db'])
})

test('the database of a server itself is restored like a backup, without what opens a push', async () => {
  const { viewed } = await fill()
  copyFileSync(join(dataDir, 'oncebox.db'), from)
  edit(from, (database) => {
    for (const table of OPENING_TABLES) {
      const columns = database
        .query<{ name: string; type: string }, []>(`SELECT name, type FROM pragma_table_info('${table}')`)
        .all()
      const values = columns.map(({ type }) =>
        type.startsWith('INT') ? '1' : type === 'TEXT' ? "'x'" : 'zeroblob(32)',
      )
      database.run(
        `INSERT OR REPLACE INTO ${table} (${columns.map(({ name }) => name).join()}) VALUES (${values.join()})`,
      )
    }
  })
  await endAll()
  const restored = new Database(path, { readonly: true })
  for (const table of OPENING_TABLES) expect(restored.query(`SELECT * FROM ${table}`).all()).toEqual([])
  expect(restored.query('SELECT url_token FROM push_labels WHERE push_id = ?').get(viewed)).toEqual({
    url_token: new Uint8Array(),
  })
  restored.close()
})

test('only the rows of a backup are restored, not its own tables, triggers and views', async () => {
  await fillAndCopy()
  edit(from, (database) => {
    database.run('CREATE TRIGGER spy AFTER INSERT ON pushes BEGIN DELETE FROM accounts; END')
    database.run('CREATE VIEW seen AS SELECT * FROM accounts')
    database.run('CREATE TABLE more (id INTEGER)')
    database.run('ALTER TABLE accounts ADD COLUMN spy TEXT')
    database.run('DROP INDEX pushes_live')
  })
  expect(await endAll()).toBeGreaterThan(0)
  const schemaOf = (file: string) => {
    const database = new Database(file, { readonly: true })
    const sql = database.query<{ sql: string }, []>('SELECT sql FROM sqlite_schema').all()
    database.close()
    return sql.map((row) => row.sql).sort()
  }
  expect(schemaOf(path)).toEqual(schemaOf(join(dataDir, 'oncebox.db')))
})

test.each([
  [
    'a view in the place of a table',
    'DROP TABLE audit_entries; CREATE VIEW audit_entries AS SELECT * FROM pushes',
  ],
  ['a table without a column', 'ALTER TABLE accounts DROP COLUMN resets'],
])('a database with %s is refused', async (_, change) => {
  await fillAndCopy()
  edit(from, (database) => database.run(change))
  expect(open).toThrow('cannot be restored')
})

test.each(['9223372036854775807', '-1'])(
  'a last use at %s, which is no time, is not restored',
  async (mark) => {
    await fillAndCopy()
    edit(from, (database) => database.run(`UPDATE instance SET clock_mark = ${mark}`))
    const store = open()
    expect(store.lastUsed()).toBe(0)
    store.close()
  },
)

test('a database of a later version is refused, naming both versions', async () => {
  await fillAndCopy()
  edit(from, (database) => database.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`))
  expect(open).toThrow(
    `its schema is version ${MIGRATIONS.length + 1}, this Oncebox knows ${MIGRATIONS.length}`,
  )
})

test.each([
  ['an empty file', () => writeFileSync(from, '')],
  ['no database', () => writeFileSync(from, 'x'.repeat(8192))],
  ['the database of another program', () => edit(from, (database) => database.run('CREATE TABLE t (id)'))],
])('%s is refused', (_, make) => {
  make()
  expect(open).toThrow('cannot be restored')
})

test('a truncated or altered database is refused', async () => {
  await fillAndCopy()
  const whole = readFileSync(from)
  truncateSync(from, whole.length - 5000)
  expect(open).toThrow('cannot be restored')
  const altered = Buffer.from(whole)
  for (let at = 4096; at < altered.length; at += 4096) altered.fill(0xff, at, at + 64)
  writeFileSync(from, altered)
  expect(open).toThrow('cannot be restored')
})

test('rows with an invalid value are left out and counted, with their dependent rows', async () => {
  makeDatabase(from)
  edit(from, (database) => {
    database.run("UPDATE pushes SET kind = 'cake' WHERE id = 2")
    database.run('DELETE FROM accounts')
    database.run('INSERT INTO recovery_codes (account_id, hash) VALUES (7, zeroblob(32))')
  })
  const store = open()
  expect(store.read(START)).toMatchObject({ leftOut: 1, pushes: 2, apiTokens: [] })
  expect(await store.endLive({ now: START, visit: RESTORE, relink, onProgress })).toBe(2)
  store.close()
  const database = new Database(path, { readonly: true })
  expect(database.query('PRAGMA foreign_key_check').all()).toEqual([])
  expect(database.query('SELECT count(*) AS n FROM pushes WHERE owner_id IS NULL').get()).toEqual({ n: 2 })
  database.close()
})

test('a wrong key is refused with both fingerprints', async () => {
  await fillAndCopy()
  const store = open()
  store.requireKeys(keysOf(readFileSync(join(dataDir, 'instance.key'), 'utf8')))
  expect(() => store.requireKeys(keysOf(newKeyFile()))).toThrow('does not belong to this database')
  store.close()
})

const keysOf = (text: string) => ({ keyring: parseKeyFile(text), keyFile: 'the.key' })

test('event numbers continue at the time of the restore, so that no earlier one is reused', async () => {
  const { owner } = await fill()
  const before = await openTestStore({ dataDir, clock })
  await before.store.accounts.addAccount({ email: 'bob@example.org', passwordHash: 'x', isAdmin: false })
  await before.store.close()
  copyKeyless(dataDir, from)
  clock.advance(DAY)
  const at = clock.now()
  await endAll()
  const opened = await serveCopy()
  const { poll } = createEvents({ store: opened.store.events })
  const signal = new AbortController().signal
  const ask = (after: number | null) => poll({ accountId: owner, tokenId: 1, after, wait: 0, signal })
  const live = await storePush(opened, { ownerId: owner }, { labels: LABELS })
  await view(opened, live)
  // The restore added the first event, for a push that expired unopened.
  const told = (await ask(null)).events.map(({ n, type }) => [n, type])
  expect(told).toEqual([
    [at + 1, 'push.expired_unopened'],
    [at + 2, 'push.opened'],
  ])
  expect((await ask(at + 1)).events.map(({ n }) => n)).toEqual([at + 2])
  for (const former of [1, 2, 1_000, at - 1])
    await expect(ask(former)).rejects.toMatchObject({ code: 'gone' })
  // An account without events in the backup may have had events after it.
  const bob = await opened.store.accounts.findAccount('bob@example.org')
  const ofBob = (after: number) => poll({ accountId: bob?.id ?? 0, tokenId: 1, after, wait: 0, signal })
  await expect(ofBob(1)).rejects.toMatchObject({ code: 'gone' })
  expect(await ofBob(0)).toEqual({ events: [], next: at })
  await opened.close()
})
