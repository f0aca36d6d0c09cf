// The format of backups: written and read as streams, encrypted with age, and refused if any part is not as
// expected.

import { describe, expect, test } from 'bun:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import {
  type BackupMember,
  createManifest,
  type MemberSource,
  readBackup,
  writeBackup as writeManifested,
} from '../../src/backup/archive.ts'
import { type BackupCredentials, openBackup, type Seal, sealStream } from '../../src/backup/sealing.ts'
import { asyncPieces } from '../../src/backup/streams.ts'
import { useLightScrypt } from '../support/light-scrypt.ts'
import { needs } from '../support/needs.ts'
import { type RawMember, rawMember, rawTar, sha256Hex } from '../support/tar.ts'

const FACTS = { version: '3.1.0', madeAt: '2026-11-22T02:46:54.000Z' }
const BODIES = {
  'settings.json': '{"port":5100}\n',
  'instance.key': '1 00ff\n',
  'oncebox.db': 'x'.repeat(700_000),
}

function describeMembers(bodies: Record<string, string>): BackupMember[] {
  return Object.entries(bodies).map(([name, body]) => ({
    name: name as BackupMember['name'],
    bytes: Buffer.byteLength(body),
    sha256: sha256Hex(body),
  }))
}

function sources(bodies: Record<string, string> = BODIES): MemberSource[] {
  return describeMembers(bodies).map((member) => ({
    ...member,
    read: () => asyncPieces(Buffer.from(bodies[member.name] ?? '')),
  }))
}

function writeBackup(members: readonly MemberSource[]): ReadableStream<Uint8Array> {
  return writeManifested(createManifest(FACTS, members), members)
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer())
}

/** Yields pieces of a size that matches no boundary of the formats. */
function inPieces(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 30_011) pieces.push(bytes.subarray(at, at + 30_011))
  return asyncPieces(...pieces)
}

const NOTHING: BackupCredentials = {
  identities: [],
  passphrase: null,
  askPassphrase: () => Promise.reject(new Error('asked')),
}
const withKeys = (...keys: string[]): BackupCredentials => ({
  ...NOTHING,
  identities: keys.map((text) => ({ path: '/key.txt', text })),
})
const withPassphrase = (passphrase: string): BackupCredentials => ({ ...NOTHING, passphrase })

async function read(bytes: Uint8Array, credentials: BackupCredentials = NOTHING) {
  const found: Record<string, string> = {}
  const decoder = new TextDecoder()
  const { seal, tar } = await openBackup(inPieces(bytes), { file: '/b.tar', credentials })
  const manifest = await readBackup(tar, {
    file: '/b.tar',
    onPiece: (name, piece) => {
      found[name] = `${found[name] ?? ''}${decoder.decode(piece, { stream: true })}`
    },
  })
  return { manifest, found, seal }
}

const refusal = (bytes: Uint8Array, credentials?: BackupCredentials): Promise<string> =>
  read(bytes, credentials).then(
    () => 'read',
    (cause: Error) => cause.message,
  )

async function sealed(seal: Seal): Promise<Buffer> {
  return bytesOf(await sealStream(writeBackup(sources()), seal))
}

test('each written member is read back', async () => {
  const { manifest, found } = await read(await bytesOf(writeBackup(sources())))
  expect(found).toEqual(BODIES)
  expect(manifest).toEqual({ format: 1, program: 'oncebox', ...FACTS, members: describeMembers(BODIES) })
})

needs('tar').test('other programs can list a backup as a tar', async () => {
  const bytes = await bytesOf(writeBackup(sources()))
  const tar = Bun.spawnSync(['tar', '-tvf', '-'], { stdin: bytes })
  expect(tar.exitCode).toBe(0)
  expect(tar.stdout.toString()).toMatch(
    /^-rw-------[\s\S]*manifest.json\n.*settings.json\n.*instance.key\n.*oncebox.db\n$/,
  )
})

test('a source that ends too early fails the whole backup', async () => {
  const [settings, , database] = sources()
  if (settings === undefined || database === undefined) throw new Error('no sources')
  const short = { ...database, bytes: database.bytes + 1 }
  expect(bytesOf(writeBackup([settings, short]))).rejects.toThrow('oncebox.db')
})

test('a backup for recipients opens with the key of each, and with no other', async () => {
  const [ann, ben, eve] = await Promise.all([1, 2, 3].map(generateX25519Identity))
  if (ann === undefined || ben === undefined || eve === undefined) throw new Error('no keys')
  const recipients = await Promise.all([ann, ben].map(identityToRecipient))
  const bytes = await sealed({ recipients })
  expect(bytes.includes('manifest.json')).toBe(false)
  for (const identity of [ann, ben])
    expect((await read(bytes, withKeys(`# eve\n${eve}\r\n\n${identity}`))).found).toEqual(BODIES)
  expect(await refusal(bytes, withKeys(eve))).toMatch(/^\/b.tar .*none of the keys/)
  expect(await refusal(bytes, withPassphrase('guess'))).toContain('is encrypted for a key')
  for (const other of [recipients[0] ?? '', `${ann}\nother`, '# nothing', ''])
    expect(await refusal(bytes, withKeys(other))).toStartWith('/key.txt holds no secret key of age')
})

test('a passphrase has the work factor that age chose', async () => {
  expect((await sealed({ passphrase: 'correct horse' })).toString('latin1')).toMatch(
    /^.*\n-> scrypt \S+ 18\n/,
  )
})

describe('with a smaller work factor', () => {
  useLightScrypt()

  test('a backup with a passphrase opens with it alone', async () => {
    const bytes = await sealed({ passphrase: 'correct horse' })
    const { found, seal } = await read(bytes, withPassphrase('correct horse'))
    expect([found, seal]).toEqual([BODIES, 'passphrase'])
    expect(await refusal(bytes, withPassphrase('wrong'))).toContain('the passphrase is wrong')
  })
})

test('a sealed backup that is cut off or altered anywhere is refused', async () => {
  const identity = await generateX25519Identity()
  const bytes = await sealed({ recipients: [await identityToRecipient(identity)] })
  const open = withKeys(identity)
  const cuts = [30, 100, 300, 66_000, 65_536 * 3, bytes.length - 17, bytes.length - 1]
  for (const at of cuts)
    expect(await refusal(bytes.subarray(0, at), open)).toStartWith('The backup /b.tar is damaged')
  for (const at of [60, 150, 250, 66_000, bytes.length - 1]) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] ?? 0) ^ 1
    expect(await refusal(altered, open)).toMatch(/^(The backup )?\/b.tar (is damaged|cannot be used)/)
  }
  expect(await refusal(Buffer.concat([bytes, Buffer.from('more')]), open)).toStartWith(
    'The backup /b.tar is damaged',
  )
})

test('an endless encryption header is refused before it fills the memory', async () => {
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('age-encryption.org/v1\n-> X25519 ')),
    pull: (controller) => controller.enqueue(Buffer.alloc(65_536, 'A')),
  })
  const reading = openBackup(endless, { file: '/b.tar', credentials: withPassphrase('x') })
  expect(reading).rejects.toThrow(
    'The backup /b.tar is damaged or was altered: the header of its encryption has no end.',
  )
})

test('an armored file is refused with the remedy', async () => {
  expect(await refusal(Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n'))).toContain('age --decrypt')
})

const MANIFEST = { format: 1, program: 'oncebox', ...FACTS, members: describeMembers(BODIES) }
const RAW: RawMember[] = Object.entries(BODIES).map(([name, body]) => ({ name, body }))
const raw = (manifest: unknown, members: readonly RawMember[] = RAW) =>
  rawTar([{ name: 'manifest.json', body: JSON.stringify(manifest) }, ...members])
const swap = (name: string, other: Partial<RawMember>) =>
  RAW.map((member) => (member.name === name ? { ...member, ...other } : member))

test('a hand-made archive of the same members is read', async () => {
  expect((await read(raw(MANIFEST))).found).toEqual(BODIES)
  expect(await refusal(Buffer.concat([raw(MANIFEST), Buffer.alloc(9 * 1024)]))).toBe('read')
})

const [SETTINGS, KEY, DATABASE] = RAW as [RawMember, RawMember, RawMember]
const WITHOUT = { ...MANIFEST, members: MANIFEST.members.slice(0, 2) }
const SPARSE = {
  ...MANIFEST,
  members: [...MANIFEST.members, { name: '../x', bytes: 1, sha256: sha256Hex('x') }],
}

test.each<[string, Buffer, string]>([
  ['an empty file', Buffer.alloc(0), 'cannot be used as a backup: it is empty'],
  ['an empty archive', Buffer.alloc(10_240), 'cannot be used as a backup: it is empty'],
  ['another kind of file', Buffer.from('SQLite format 3\0'.repeat(99)), 'it is not a tar archive'],
  ['another archive', rawTar([{ name: 'notes.txt', body: 'x' }]), 'does not begin with manifest.json'],
  [
    'a manifest that is no JSON',
    rawTar([{ name: 'manifest.json', body: '{' }]),
    'its manifest is not from Oncebox',
  ],
  [
    'a manifest that is a folder',
    rawTar([{ name: 'manifest.json', body: '', type: '5' }]),
    'its manifest is not from Oncebox',
  ],
  ['a manifest of null', raw(null), 'its manifest is not from Oncebox'],
  ['a huge manifest', raw({ ...MANIFEST, more: 'x'.repeat(70_000) }), 'does not begin with manifest.json'],
  ['another program', raw({ ...MANIFEST, program: 'vault' }), 'its manifest is not from Oncebox'],
  ['a later format', raw({ ...MANIFEST, format: 2, version: '9.0.0' }), 'a later version made it (format 2)'],
  ['no format', raw({ ...MANIFEST, format: 'one' }), 'not from Oncebox'],
  ['a time that is none', raw({ ...MANIFEST, madeAt: 'yesterday' }), 'its manifest is invalid'],
  ['escapes in its version', raw({ ...MANIFEST, version: '\x1b[2J' }), 'its manifest is invalid'],
  ['no members', raw({ ...MANIFEST, members: undefined }, []), 'its manifest is invalid'],
  ['no database in its list', raw(WITHOUT, RAW.slice(0, 2)), 'its manifest is invalid'],
  ['a member that no backup has', raw(SPARSE), 'its manifest is invalid'],
  [
    'a listed member twice',
    raw({ ...MANIFEST, members: [...describeMembers(BODIES), ...describeMembers(BODIES)] }),
    'its manifest is invalid',
  ],
  [
    'a huge key file',
    raw({ ...MANIFEST, members: describeMembers({ ...BODIES, 'instance.key': 'x'.repeat(70_000) }) }),
    'its manifest is invalid',
  ],
  ['a member missing at the end', raw(MANIFEST, [SETTINGS, KEY]), 'oncebox.db is not at the position'],
  [
    'an additional member',
    raw(MANIFEST, [...RAW, { name: 'x', body: 'x' }]),
    'it holds more than its manifest lists',
  ],
  [
    'a member twice',
    raw(MANIFEST, [SETTINGS, SETTINGS, KEY, DATABASE]),
    'instance.key is not at the position',
  ],
  ['another order', raw(MANIFEST, [KEY, SETTINGS, DATABASE]), 'settings.json is not at the position'],
  [
    'an absolute path',
    raw(MANIFEST, swap('instance.key', { name: '/etc/passwd' })),
    'instance.key is not at the position',
  ],
  [
    'a path upwards',
    raw(MANIFEST, swap('instance.key', { name: '../instance.key' })),
    'instance.key is not at the position',
  ],
  [
    'a symbolic link',
    raw(MANIFEST, swap('instance.key', { type: '2', link: '/etc/passwd', body: '' })),
    'instance.key is not at the position',
  ],
  [
    'a hard link',
    raw(MANIFEST, swap('instance.key', { type: '1', link: 'x', body: '' })),
    'instance.key is not at the position',
  ],
  [
    'a device',
    raw(MANIFEST, swap('instance.key', { type: '3', body: '' })),
    'instance.key is not at the position',
  ],
  ['other bytes', raw(MANIFEST, swap('instance.key', { body: '1 00fe\n' })), 'differs from the manifest'],
  [
    'a longer member',
    raw(MANIFEST, swap('instance.key', { body: '1 00ff\n\n' })),
    'instance.key is not at the position',
  ],
  ['a size that lies', raw(MANIFEST, swap('instance.key', { size: 600 })), ''],
  ['something after its end', Buffer.concat([raw(MANIFEST), rawMember(KEY)]), ''],
])('%s is refused, naming the file', async (_, bytes, why) => {
  const message = await refusal(bytes)
  expect(message).toMatch(
    /^(The backup \/b.tar is damaged or was altered|\/b.tar cannot be used as a backup): /,
  )
  expect(message).toContain(why)
})

test('an archive that is cut off anywhere is refused', async () => {
  const whole = raw(MANIFEST)
  for (let at = 511; at < whole.length; at += 8_191)
    expect(await refusal(whole.subarray(0, at))).toContain('/b.tar ')
  expect(await refusal(whole.subarray(0, whole.length - 1))).toContain('it ends too early')
  expect(await refusal(whole.subarray(0, whole.length - 1024))).toContain('it ends too early')
  expect(await refusal(whole.subarray(0, 300_000))).toContain('it ends too early')
})

test('a name in an extended header takes precedence over that in the plain header', async () => {
  const record = '21 path=/etc/passwd\n\n'
  const hidden = [SETTINGS, { name: 'PaxHeader', body: record, type: 'x' }, KEY, DATABASE]
  expect(await refusal(raw(MANIFEST, hidden))).toContain('instance.key is not at the position')
})

test('an error of the reader is passed on unchanged, and the source is closed', async () => {
  let isCancelled = false
  const bytes = raw(MANIFEST)
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(bytes),
    cancel: () => {
      isCancelled = true
    },
  })
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  const onPiece = () => Promise.reject(full)
  const cause = await readBackup(source, { file: '/b.tar', onPiece }).catch((err) => err)
  expect(cause).toBe(full)
  expect(isCancelled).toBe(true)
})

test('a source that fails passes its error', async () => {
  const broken = Object.assign(new Error('input/output error'), { code: 'EIO' })
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.error(broken),
  })
  const cause = await readBackup(source, { file: '/b.tar', onPiece: () => undefined }).catch((err) => err)
  expect(cause).toBe(broken)
})
