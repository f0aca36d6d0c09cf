// The copy of a database from before a migration: enough to return to the former version, but no secret that
// opens a push.

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
import { sealedSize } from '../../../src/crypto/sealed-stream.ts'
import { dataFolder } from '../../../src/store/folder/data-folder.ts'
import { copyBeforeMigration, removeOldCopies } from '../../../src/store/sqlite/migration-copy.ts'
import { createTestClock, type TestClock } from '../../support/instance.ts'
import { openTestStore, storePush, VISIT } from '../../support/store.ts'

const SIZE = 5
const COPY = 'before-update-from-1.db'
const WRAPPED_KEY = Buffer.from('the-wrapped-key-of-a-push'.padEnd(62, '.'))
const PAYLOAD = Buffer.from('the-sealed-payload-of-a-push')
const SALT = Buffer.from('salt-of-a-push..')

let dataDir: string
let clock: TestClock

async function* content() {
  yield Buffer.alloc(sealedSize(SIZE), 7)
}

/** An account with a live push and its file, an ended one, and a session. */
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'oncebox-before-'))
  clock = createTestClock()
  const opened = await openTestStore({ dataDir, clock })
  const account = { email: 'ann@example.org', passwordHash: 'x', isAdmin: true }
  const { id: ownerId } = await opened.store.accounts.addAccount(account)
  const name = Buffer.from('name')
  const labels = { urlToken: name, name, note: null, request: null }
  await opened.store.files.keepFile('the-file', content())
  const files = [{ fileId: 'the-file', size: SIZE, filename: name, contentType: name }]
  const secrets = { salt: SALT, wrappedKey: WRAPPED_KEY, payload: PAYLOAD, passphraseSalt: null }
  await storePush(opened, { ownerId }, { labels, files, secrets })
  const ended = await storePush(opened, { ownerId }, { labels })
  await opened.store.pushes.expirePush({ id: ended.id, visit: VISIT })
  const session = { accountId: ownerId, hash: Buffer.alloc(32, 7), visit: VISIT, tested: 'x' }
  await opened.store.sessions.addSession(session)
  await opened.store.close()
})

afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

function copy({ minFreeSpace = 0 } = {}): { name: string | null; warnings: string[] } {
  const warnings: string[] = []
  const onWarning = (warning: string) => warnings.push(warning)
  const folder = dataFolder(dataDir)
  const name = copyBeforeMigration({ folder, version: 1, now: clock.now(), minFreeSpace, onWarning })
  return { name, warnings }
}

const copies = () => readdirSync(dataDir).filter((name) => name.startsWith('before-update'))

test('a copy is readable only for its owner, its path is reported, and it has the tables of the database', () => {
  const { name, warnings } = copy()
  expect([name, copies()]).toEqual([COPY, [COPY]])
  expect(warnings.join()).toContain(join(dataDir, COPY))
  expect(statSync(join(dataDir, COPY)).mode & 0o777).toBe(0o600)
  const [made, source] = [join(dataDir, COPY), join(dataDir, 'oncebox.db')].map(
    (path) => new Database(path, { readonly: true }),
  )
  const schemaOf = (database: Database | undefined) =>
    database?.query('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql').all()
  expect(made?.query('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' })
  expect(made?.query('PRAGMA foreign_key_check').all()).toEqual([])
  expect(schemaOf(made)).toEqual(schemaOf(source))
  made?.close()
  source?.close()
})

test('nothing in the copy opens a push, a session or a link', () => {
  copy()
  const bytes = readFileSync(join(dataDir, COPY))
  for (const needle of [WRAPPED_KEY, PAYLOAD, SALT]) expect(bytes.includes(needle)).toBe(false)
  const made = new Database(join(dataDir, COPY), { readonly: true })
  const filled = made
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .filter(({ name }) => made.query(`SELECT 1 FROM ${name}`).get() !== null)
  expect(filled.map(({ name }) => name)).toEqual([
    ...['accounts', 'audit_entries', 'bucket_folder', 'files_due', 'instance', 'instance_keys'],
    ...['links_filed', 'push_labels', 'push_state', 'pushes', 'sqlite_sequence'],
  ])
  expect(made.query('SELECT 1 FROM pushes WHERE expired_on IS NULL').get()).toBeNull()
  made.close()
})

test('a folder made of the copy serves accounts, lists, logs and expired pushes', async () => {
  copy()
  const restored = mkdtempSync(join(tmpdir(), 'oncebox-restored-'))
  cpSync(join(dataDir, 'instance.key'), join(restored, 'instance.key'))
  cpSync(join(dataDir, COPY), join(restored, 'oncebox.db'))
  const { store, close } = await openTestStore({ dataDir: restored, clock })
  const ownerId = (await store.accounts.findAccount('ann@example.org'))?.id ?? 0
  const pushes = await store.lists.listPushes({ ownerId, expired: true, pageNumber: 1 })
  expect(pushes.map(({ push }) => push.id)).toEqual([2, 1])
  for (const { push } of pushes) expect((await store.audit.listPage(push, 1))[0]?.kind).toBe('creation')
  await close()
})

test('older copies and half-written ones are removed, except the copy that is to be kept', () => {
  const { name } = copy()
  writeFileSync(join(dataDir, 'before-update-from-3.db.part'), 'half of a copy')
  removeOldCopies(dataFolder(dataDir), name)
  expect(copies()).toEqual([COPY])
  removeOldCopies(dataFolder(dataDir), null)
  expect(copies()).toEqual([])
})

test('an incomplete copy is made again', () => {
  writeFileSync(join(dataDir, `${COPY}.part`), 'half of a copy')
  copy()
  expect(existsSync(join(dataDir, `${COPY}.part`))).toBe(false)
  expect(readFileSync(join(dataDir, COPY)).toString('latin1')).toStartWith('SQLite format 3')
})

test('a disk without room for a copy causes a warning', () => {
  const { name, warnings } = copy({ minFreeSpace: Number.MAX_SAFE_INTEGER })
  expect([name, copies()]).toEqual([null, []])
  expect(warnings.join()).toContain('no room for a copy')
})
