// Hostile archives: no part of them is written outside of the unfinished folder, and nothing is left.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { restoreBackup } from '../../src/backup/restore.ts'
import type { BackupCredentials } from '../../src/backup/sealing.ts'
import { readPath } from '../../src/backup/streams.ts'
import { verifyBackup } from '../../src/backup/verify.ts'
import { startInstance } from '../support/instance.ts'
import { copyKeyless, MADE_AT } from '../support/packed-backup.ts'
import { type RawMember, rawMember, rawTar, sha256Hex } from '../support/tar.ts'

const OPENING: BackupCredentials = { identities: [], passphrase: null, askPassphrase: async () => '' }

let room: string
let file: string
let target: string
let temporary: string

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-hostile-'))
  file = join(room, 'backup.tar')
  target = join(room, 'inner', 'new')
  temporary = join(room, 'temporary')
  mkdirSync(join(room, 'inner'))
  mkdirSync(temporary)
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

/** The reason why both commands refuse the archive, which must leave nothing behind. */
async function refusal(bytes: Uint8Array): Promise<string> {
  writeFileSync(file, bytes)
  const ports = { now: Date.now, credentials: OPENING, onProgress: () => undefined }
  const wish = { file, open: () => readPath(file), keyFile: null }
  const reason = async (work: Promise<unknown>) =>
    work.then(
      () => 'nothing',
      (cause) => `${cause.code}: ${cause.message}`,
    )
  const restored = await reason(
    restoreBackup({ ...wish, dataDir: target }, { ...ports, decide: async () => ({ apiTokens: 'keep' }) }),
  )
  const verified = await reason(verifyBackup({ ...wish, tempDir: temporary }, ports))
  // If several things are wrong, either may be reported first.
  expect(codeIn(verified)).toBe(codeIn(restored))
  expect(readdirSync(room).sort()).toEqual(['backup.tar', 'inner', 'temporary'])
  expect(readdirSync(join(room, 'inner'))).toEqual([])
  expect(readdirSync(temporary)).toEqual([])
  return restored
}

const codeIn = (reason: string) => reason.split(':')[0]

const SETTINGS: RawMember = { name: 'settings.json', body: '{}' }
const DATABASE: RawMember = { name: 'oncebox.db', body: 'x'.repeat(5_000) }

function manifestOf(members: readonly RawMember[], changes: Record<string, unknown> = {}): RawMember {
  const manifest = {
    ...{
      format: 1,
      program: 'oncebox',
      version: '3.0.0',
      schema: 1,
      madeAt: MADE_AT,
      pushes: 0,
      accounts: 0,
    },
    members: members.map(({ name, body, size }) => ({
      name,
      bytes: size ?? body.length,
      sha256: sha256Hex(body),
    })),
    ...changes,
  }
  return { name: 'manifest.json', body: JSON.stringify(manifest) }
}

const tarOf = (...members: RawMember[]) => rawTar([manifestOf(members), ...members])
const instead = (member: RawMember) => rawTar([manifestOf([SETTINGS, DATABASE]), SETTINGS, member])

test.each<[string, Uint8Array]>([
  ['a name that leads out of the folder', instead({ ...DATABASE, name: '../oncebox.db' })],
  ['an absolute name', instead({ ...DATABASE, name: '/tmp/oncebox.db' })],
  [
    'a name that the manifest itself leads out with',
    tarOf(SETTINGS, { ...DATABASE, name: '../../oncebox.db' }),
  ],
  ['a symbolic link', instead({ ...DATABASE, body: '', type: '2', link: '/etc/passwd' })],
  ['a hard link', instead({ ...DATABASE, body: '', type: '1', link: 'settings.json' })],
  ['a device', instead({ ...DATABASE, body: '', type: '3' })],
  ['a pipe', instead({ ...DATABASE, body: '', type: '6' })],
  ['a folder', instead({ ...DATABASE, body: '', type: '5' })],
  ['the same member twice', rawTar([manifestOf([SETTINGS, DATABASE]), SETTINGS, SETTINGS, DATABASE])],
  ['a member twice in the manifest', tarOf(SETTINGS, SETTINGS, DATABASE)],
  ['a member behind the last one', rawTar([manifestOf([SETTINGS, DATABASE]), SETTINGS, DATABASE, SETTINGS])],
  ['a member that no backup has', tarOf(SETTINGS, { name: 'evil.sh', body: 'rm' }, DATABASE)],
  ['a body shorter than its header says', instead({ ...DATABASE, size: 9_000_000_000 })],
  ['a name with a zero in it', instead({ ...DATABASE, name: 'oncebox.db\0../x' })],
])('a backup with %s is refused', async (_, bytes) => {
  expect(await refusal(bytes)).toMatch(/^(conflict|disk_full): /)
})

test('a member that announces more bytes than the disk can hold is refused before anything is written', async () => {
  const huge = { ...DATABASE, size: Number.MAX_SAFE_INTEGER }
  expect(await refusal(rawTar([manifestOf([SETTINGS, huge])]))).toMatch(/^disk_full: .*no room/)
})

test.each<[string, Uint8Array]>([
  ['nothing', new Uint8Array()],
  ['zeros', new Uint8Array(100_000)],
  ['text', Buffer.from('x'.repeat(100_000))],
  ['the archive of another program', rawTar([{ name: 'README', body: 'hello' }])],
  ['a manifest alone', rawTar([manifestOf([SETTINGS, DATABASE])])],
  ['another program’s manifest', rawTar([manifestOf([], { program: 'other' })])],
  ['a manifest of the future', rawTar([manifestOf([], { format: 2 })])],
  ['an endless header of age', Buffer.from(`age-encryption.org/v1\n${'-> X25519 x\n'.repeat(20_000)}`)],
  ['a manifest without an end', rawTar([{ name: 'manifest.json', body: ' '.repeat(70_000) }])],
  ['deep JSON', rawTar([{ name: 'manifest.json', body: '['.repeat(60_000) }])],
])('%s is no backup', async (_, bytes) => {
  expect(await refusal(bytes)).toStartWith('conflict: ')
})

test('an endless file of zeros is refused after its first bytes', async () => {
  const wish = {
    file: '/dev/zero',
    open: () => readPath('/dev/zero'),
    keyFile: null,
    tempDir: temporary,
  }
  const ports = { now: Date.now, credentials: OPENING, onProgress: () => undefined }
  await expect(verifyBackup(wish, ports)).rejects.toThrow('it is empty')
})

test('a valid database that could do harm is refused', async () => {
  const dataDir = join(room, 'data')
  const instance = await startInstance({ dataDir })
  await instance.stop()
  const path = join(room, 'copy.db')
  copyKeyless(dataDir, path)
  const whole = readFileSync(path).toString('latin1')
  rmSync(dataDir, { recursive: true })
  rmSync(path)
  const withBody = (body: Buffer) => {
    const listed = { name: 'oncebox.db', bytes: body.length, sha256: sha256Hex(body) }
    const settings = { name: 'settings.json', bytes: 2, sha256: sha256Hex('{}') }
    const manifest = manifestOf([], { members: [settings, listed] })
    const member = Buffer.concat([headerOf('oncebox.db', body), body, Buffer.alloc(-body.length & 511)])
    return Buffer.concat([rawMember(manifest), rawMember(SETTINGS), member, Buffer.alloc(1024)])
  }
  const evil = whole.replace('CREATE INDEX pushes_live', 'CREATE INDEX pushes_evil')
  expect(await refusal(withBody(Buffer.from(evil, 'latin1')))).toContain('cannot be restored')
  expect(await refusal(withBody(Buffer.from(whole.slice(0, 8192), 'latin1')))).toContain('cannot be restored')
})

function headerOf(name: string, body: Uint8Array): Buffer {
  return rawMember({ name, body: '', size: body.length }).subarray(0, 512)
}
