// A backup of a complete Oncebox: its content, and that no part of it opens a push.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { writeSettingsNote } from '../../src/store/folder/notes.ts'
import { makeBackup, makeOld, openBackedUp, readHiddenCopies, readMembers } from '../support/backup.ts'
import { alterDatabase } from '../support/damage.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { findNeedles, readFolder, spellingsOf } from '../support/needles.ts'
import { needs } from '../support/needs.ts'

let box: TestInstance
let room: string
let token: string
let isStopped: boolean

const PAYLOAD = 'the payload of a push that must not come back'
const PASSPHRASE = 'the passphrase of a push that is in no backup'
const CONTENT = 'the content of a file that must not come back'.repeat(20)

async function stop(): Promise<void> {
  isStopped = true
  await box.stop()
}

async function create(fields: Record<string, unknown>): Promise<string> {
  const response = await box.fetch('/api/v2/pushes', { json: { push: fields }, token })
  return (await response.json()).url_token
}

beforeEach(async () => {
  isStopped = false
  box = await startInstance()
  room = mkdtempSync(join(tmpdir(), 'oncebox-backup-'))
  token = await box.addAccount('ann@example.org', { isAdmin: true })
  await create({ payload: PAYLOAD, name: 'the name', note: 'the note', expire_after_views: 3 })
  await create({ payload: `${PAYLOAD} 2`, passphrase: PASSPHRASE })
  await create({ kind: 'file', files: [{ filename: 'plans.txt', data: btoa(CONTENT) }] })
  const burned = await create({ payload: `${PAYLOAD} 3`, expire_after_views: 1 })
  await box.fetch(`/api/v2/pushes/${burned}`)
  await create({ payload: `${PAYLOAD} 4`, name: 'of nobody' })
})

afterEach(async () => {
  if (isStopped) rmSync(box.dataDir, { recursive: true })
  else await box.close()
  rmSync(room, { recursive: true, force: true })
})

function sourceRows(sql: string): Record<string, unknown>[] {
  const source = new Database(join(box.dataDir, 'oncebox.db'))
  const rows = source.query<Record<string, unknown>, []>(sql).all()
  source.close()
  return rows
}

/** Returns every secret in the database that opens a push, a file, a session or an account. */
function listSecrets(): { name: string; bytes: Uint8Array }[] {
  const tables = {
    push_secrets: ['salt', 'passphrase_salt', 'payload'],
    push_keys: ['wrapped_key'],
    push_files: ['filename', 'content_type'],
    push_labels: ['url_token', 'request'],
    requests: ['url_token', 'passphrase_salt', 'passphrase_verifier'],
    sessions: ['hash'],
    account_links: ['hash'],
    idempotency_answers: ['answer'],
    idempotency_keys: ['lookup'],
  }
  const stored = Object.entries(tables).flatMap(([table, columns]) =>
    columns.flatMap((column) =>
      sourceRows(`SELECT ${column} AS bytes FROM ${table} WHERE ${column} IS NOT NULL`).map(({ bytes }) => ({
        name: `${table}.${column}`,
        bytes: bytes as Uint8Array,
      })),
    ),
  )
  const sealedFiles = readFolder(join(box.dataDir, 'files')).map(({ bytes }) => ({
    name: 'a sealed file',
    bytes: bytes.subarray(bytes.length - 64),
  }))
  const plain = [PAYLOAD, PASSPHRASE, 'plans.txt', CONTENT.slice(0, 40)].flatMap((text) =>
    spellingsOf(text).map((bytes) => ({ name: text, bytes })),
  )
  return [...stored, ...sealedFiles, ...plain]
}

async function makeSecrets(): Promise<void> {
  const headers = { 'idempotency-key': 'a-key-that-somebody-made-up' }
  await box.fetch('/api/v2/pushes', { json: { push: { payload: PAYLOAD } }, headers })
  const request = { passphrase: PASSPHRASE, max_answers: 2 }
  const asked = await box.fetch('/api/oncebox/requests', { json: { request }, token })
  const { url_token: urlToken } = await asked.json()
  const push = { payload: PAYLOAD, passphrase: PASSPHRASE }
  await box.fetch(`/api/oncebox/requests/${urlToken}/answers`, { json: { push } })
  alterDatabase(
    box.dataDir,
    `INSERT INTO sessions (account_id, hash, created_at, last_seen_at, ip, user_agent, confirmed_at)
     VALUES (1, randomblob(32), 1, 1, '', '', 1)`,
  )
}

test('neither a backup nor the copy that it is made from contains anything that opens a push', async () => {
  await makeSecrets()
  const secrets = listSecrets()
  const kinds = new Set(secrets.map(({ name }) => name))
  for (const kind of [
    ...['push_secrets.salt', 'push_keys.wrapped_key', 'push_labels.url_token', 'push_labels.request'],
    ...['requests.url_token', 'requests.passphrase_verifier'],
    ...['a sealed file', 'sessions.hash'],
  ])
    expect(kinds.has(kind)).toBe(true)
  const copies: ReturnType<typeof readHiddenCopies> = []
  const { bytes } = await makeBackup(box.dataDir, {}, (step) => {
    if (step === 'after the copy was written') copies.push(...readHiddenCopies())
  })
  if (process.platform === 'linux') expect(copies).toHaveLength(1)
  expect(findNeedles([{ where: 'the backup', bytes }, ...copies], secrets)).toEqual([])
})

test.each([
  ['push_keys', 'wrapped_key', 'push_labels', 'name'],
  ['push_secrets', 'payload', 'push_labels', 'note'],
  ['push_secrets', 'salt', 'push_labels', 'name'],
  ['push_labels', 'url_token', 'push_labels', 'note'],
])('the search for secrets finds %s.%s if a backup contains it in %s.%s', async (table, column, into, at) => {
  const secrets = listSecrets().filter(({ name }) => name === `${table}.${column}`)
  alterDatabase(box.dataDir, `UPDATE ${into} SET ${at} = (SELECT ${column} FROM ${table} LIMIT 1)`)
  const { bytes } = await makeBackup(box.dataDir)
  expect(findNeedles([{ where: 'the backup', bytes }], secrets)).not.toEqual([])
})

test('tables of secrets are empty in the copy', async () => {
  await makeSecrets()
  const { bytes } = await makeBackup(box.dataDir)
  const database = await openBackedUp(bytes, join(room, 'copy.db'))
  const tables = database
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name)
  const empty = tables.filter((name) => database.query(`SELECT 1 FROM ${name}`).get() === null)
  expect(empty.filter((name) => sourceRows(`SELECT 1 FROM ${name}`).length > 0)).toEqual([
    ...['account_links', 'address_shares', 'bucket_folder', 'event_counts', 'events', 'home'],
    ...['idempotency_answers', 'idempotency_keys', 'live_shares'],
    ...['push_files', 'push_keys', 'push_secrets', 'requests', 'sessions', 'soon_told'],
  ])
  expect(empty).toContain('push_secrets')
  expect(empty).toContain('push_keys')
  database.close()
})

test('a backup contains accounts, tokens, pushes, labels and logs unchanged', async () => {
  await box.fetch('/up')
  const { bytes, report } = await makeBackup(box.dataDir)
  const database = await openBackedUp(bytes, join(room, 'copy.db'))
  const copied = [
    'accounts',
    'api_tokens',
    'pushes',
    'push_state',
    'audit_entries',
    'instance',
    'instance_keys',
  ]
  for (const table of [...copied, 'imported', 'preferences', 'recovery_codes'])
    expect(database.query(`SELECT * FROM ${table}`).all()).toEqual(sourceRows(`SELECT * FROM ${table}`))
  const live = database
    .query<{ n: number }, []>('SELECT count(*) AS n FROM pushes WHERE expired_on IS NULL')
    .get()
  expect(live?.n).toBe(4)
  expect(database.query('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  const schema = 'SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name'
  expect(database.query(schema).all()).toEqual(sourceRows(schema))
  expect(report).toMatchObject({ pushes: 5, accounts: 1, manifest: { madeAt: '2026-11-20T12:00:00.000Z' } })
  const labels = 'SELECT push_id, name, note, seen_views FROM push_labels'
  expect(database.query(labels).all()).toEqual(sourceRows(labels))
  expect(database.query('SELECT 1 FROM push_labels WHERE length(url_token) > 0').get()).toBeNull()
  database.close()
})

test('a backup contains the choices and templates of accounts, and the appearance', async () => {
  alterDatabase(box.dataDir, "INSERT INTO appearance (id, name) VALUES (1, 'Larkspur')")
  alterDatabase(
    box.dataDir,
    "INSERT INTO preferences (account_id, views, template) VALUES (1, 3, 'Dear all')",
  )
  const { bytes } = await makeBackup(box.dataDir)
  const database = await openBackedUp(bytes, join(room, 'copy.db'))
  expect(database.query('SELECT views, template FROM preferences').all()).toEqual([
    { views: 3, template: 'Dear all' },
  ])
  expect(database.query('SELECT name, contact FROM appearance').all()).toEqual([
    { name: 'Larkspur', contact: null },
  ])
  database.close()
})

test('a server keeps serving during a backup, which contains all that was acknowledged before', async () => {
  const file = join(room, 'b.tar')
  const creating = Promise.all(Array.from({ length: 20 }, (_, n) => create({ payload: `${n}` })))
  const acknowledged = sourceRows('SELECT id FROM pushes').length
  const { bytes } = await makeBackup(box.dataDir, { file })
  await creating
  const database = await openBackedUp(bytes, join(room, 'copy.db'))
  expect(database.query('SELECT id FROM pushes').all().length).toBeGreaterThanOrEqual(acknowledged)
  database.close()
})

test('a backup of a stopped server changes nothing in its folder', async () => {
  await stop()
  const list = () =>
    readdirSync(box.dataDir)
      .sort()
      .filter((name) => name !== 'serve.lock')
  const before = list()
  const { report } = await makeBackup(box.dataDir)
  expect(report.pushes).toBe(5)
  expect(list()).toEqual(before)
})

test('other users cannot read the file, and nothing else is left beside it', async () => {
  const file = join(room, 'b.tar')
  // The server fills its reserve when it has run for a second.
  const list = () =>
    readdirSync(box.dataDir)
      .filter((name) => name !== 'reserve')
      .sort()
  const before = list()
  await makeBackup(box.dataDir, { file })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(room)).toEqual(['b.tar'])
  expect(list()).toEqual(before)
})

test.each([
  ['a file', (path: string) => writeFileSync(path, 'mine')],
  ['a folder', (path: string) => mkdirSync(path)],
  ['a link', (path: string) => symlinkSync('/nowhere', path)],
])('%s at the destination is refused and left as it is', (_, make) => expectKept(make))

needs('mkfifo').test('a pipe at the destination is refused and left as it is', () =>
  expectKept((path) => void Bun.spawnSync(['mkfifo', path])),
)

async function expectKept(make: (path: string) => void): Promise<void> {
  const file = join(room, 'b.tar')
  make(file)
  await expect(makeBackup(box.dataDir, { file })).rejects.toThrow(
    `${file} exists, and a backup never overwrites a file`,
  )
  expect(readdirSync(room)).toEqual(['b.tar'])
}

test('a device, a missing folder and a path in the data folder are refused', async () => {
  const refused = (file: string) => expect(makeBackup(box.dataDir, { file })).rejects
  await refused('/dev/null').toThrow('/dev/null exists, and a backup never overwrites a file')
  await refused(join(room, 'no', 'b.tar')).toThrow('its folder does not exist')
  await refused(join(box.dataDir, 'b.tar')).toThrow('lies in the data folder')
  await refused(join(box.dataDir, 'files', 'b.tar')).toThrow('lies in the data folder')
  symlinkSync(box.dataDir, join(room, 'way-in'))
  await refused(join(room, 'way-in', 'b.tar')).toThrow('lies in the data folder')
})

test('a planted file with the name of a leftover in a shared folder prevents no backup', async () => {
  const foreign = 'b.tar.oncebox-999999999.part'
  mkdirSync(join(room, foreign))
  makeOld(join(room, foreign))
  await makeBackup(box.dataDir, { file: join(room, 'b.tar') })
  expect(readdirSync(room).sort()).toEqual(['b.tar', foreign])
})

test('a file created meanwhile is not overwritten', async () => {
  const file = join(room, 'b.tar')
  const making = makeBackup(box.dataDir, { file }, (step) => {
    if (step === 'before the backup has its name') writeFileSync(file, 'mine')
  })
  await expect(making).rejects.toThrow('another process has created it meanwhile')
  expect(readdirSync(room)).toEqual(['b.tar'])
  expect(readFileSync(file, 'utf8')).toBe('mine')
})

test('a folder without data is refused, with the remedy', async () => {
  const refused = (dataDir: string) => expect(makeBackup(dataDir, { file: join(room, 'b.tar') })).rejects
  await refused(join(room, 'nowhere')).toThrow('There is no Oncebox data')
  mkdirSync(join(room, 'empty'))
  await refused(join(room, 'empty')).toThrow('There is no Oncebox data')
  expect(readdirSync(room)).toEqual(['empty'])
})

test('a database of a later version is refused', async () => {
  await stop()
  alterDatabase(box.dataDir, 'PRAGMA user_version = 9999')
  await expect(makeBackup(box.dataDir)).rejects.toThrow('written by a newer Oncebox')
})

test('a full disk is refused before anything is written', async () => {
  const making = makeBackup(box.dataDir, { file: join(room, 'b.tar'), minFreeSpace: Number.MAX_SAFE_INTEGER })
  await expect(making).rejects.toThrow('has no room for the copy of the database')
  expect(readdirSync(room)).toEqual([])
})

test('a backup contains the instance key if it is in the data folder', async () => {
  const key = join(box.dataDir, 'instance.key')
  const first = await makeBackup(box.dataDir)
  expect(first.report.key).toBe('included')
  expect((await readMembers(first.bytes)).members['instance.key']).toEqual(readFileSync(key))
  const keyOf = async (keyFile: string | null = null) => {
    const { report, bytes } = await makeBackup(box.dataDir, { keyFile })
    expect((await readMembers(bytes)).members['instance.key']).toBeUndefined()
    return report.key
  }
  writeFileSync(join(room, 'elsewhere.key'), readFileSync(key))
  expect(await keyOf(join(room, 'elsewhere.key'))).toBe('elsewhere')
  renameSync(key, join(room, 'moved.key'))
  expect(await keyOf()).toBe('missing')
  symlinkSync(join(room, 'moved.key'), key)
  expect(await keyOf()).toBe('elsewhere')
  rmSync(key)
  writeFileSync(key, newKeyFile())
  expect(await keyOf()).toBe('foreign')
  writeFileSync(key, 'no key at all')
  expect(await keyOf()).toBe('unreadable')
  rmSync(key)
  writeFileSync(key, readFileSync(join(room, 'moved.key')))
  chmodSync(key, 0o600)
})

test('only encrypted backups contain the key of the TLS authority', async () => {
  writeFileSync(join(box.dataDir, 'tls-authority.pem'), 'the key of the authority')
  const open = await makeBackup(box.dataDir)
  expect(open.report.tlsAuthority).toBe('unsealed')
  expect(open.bytes.includes('the key of the authority')).toBe(false)
  const identity = await generateX25519Identity()
  const seal = { recipients: [await identityToRecipient(identity)] }
  const sealed = await makeBackup(box.dataDir, { seal })
  expect(sealed.report).toMatchObject({ tlsAuthority: 'included', isSealed: true })
  const { members, manifest } = await readMembers(sealed.bytes, { identities: [identity] })
  expect(members['tls-authority.pem']?.toString()).toBe('the key of the authority')
  expect(manifest.members.map(({ name }) => name)).toEqual([
    ...(['settings.json', 'instance.key', 'tls-authority.pem', 'oncebox.db'] as const),
  ])
  expect(sealed.bytes.includes('manifest.json')).toBe(false)
})

test('a backup contains the settings in the server’s note, or else those of the command line', async () => {
  const settingsOf = async (bytes: Buffer) =>
    JSON.parse((await readMembers(bytes)).members['settings.json']?.toString() ?? '')
  const given = { flag: 'port', value: '1', from: '--port' }
  const alone = await makeBackup(box.dataDir, { settings: [given] })
  expect(await settingsOf(alone.bytes)).toEqual({ from: 'command line', settings: [given] })
  const noted = { ...given, value: '2' }
  const note = {
    settings: [noted],
    keyFile: '/etc/a.key',
    tlsAuthorityKey: null,
    minFreeSpace: 0,
  }
  writeSettingsNote(box.dataDir, note)
  const beside = await makeBackup(box.dataDir, { settings: [given] })
  expect(await settingsOf(beside.bytes)).toEqual({ from: 'server', settings: [noted] })
  expect(beside.report.key).toBe('missing')
  await stop()
  const after = await makeBackup(box.dataDir, { settings: [given] })
  expect(after.report.settingsFrom).toBe('last server')
  const keyGiven = { flag: 'key-file', value: '', from: '--key-file' }
  const key = join(box.dataDir, 'instance.key')
  expect((await makeBackup(box.dataDir, { settings: [keyGiven], keyFile: key })).report.key).toBe('included')
})
