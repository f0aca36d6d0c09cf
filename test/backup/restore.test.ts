// Restoring a backup into a new folder: what is restored, what is not, and that it is complete or not done at
// all.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { type Decision, type RestorePlan, restoreBackup } from '../../src/backup/restore.ts'
import type { BackupCredentials } from '../../src/backup/sealing.ts'
import { readPath } from '../../src/backup/streams.ts'
import { newKeyFile } from '../../src/crypto/keyring.ts'
import { listenAtSteps } from '../../src/store/durable-steps.ts'
import { startApi } from '../support/api.ts'
import { createTestClock, START, startInstance, type TestClock } from '../support/instance.ts'
import { useLightScrypt } from '../support/light-scrypt.ts'
import { createBrowser } from '../support/lying-provider.ts'
import { type BackupParts, backupOf, edit, makeDatabase, packBackup } from '../support/packed-backup.ts'
import { createPeople } from '../support/people.ts'
import { askChallenge, createAuthenticator } from '../support/software-authenticator.ts'
import { codeOf } from '../support/tour.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const ANN = 'ann@example.org'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const NOTHING: BackupCredentials = {
  identities: [],
  passphrase: null,
  askPassphrase: () => Promise.reject(new Error('asked')),
}

let room: string
let dataDir: string
let target: string
let file: string
let clock: TestClock

beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-restore-'))
  dataDir = join(room, 'data')
  target = join(room, 'new')
  file = join(room, 'backup.tar')
  clock = createTestClock()
})

afterEach(() => {
  listenAtSteps(null)
  rmSync(room, { recursive: true, force: true })
})

type Restoring = {
  credentials?: Partial<BackupCredentials>
  decide?: (plan: RestorePlan) => Decision
  keyFile?: string | null
  dataDir?: string
}

function restore({ credentials, decide = () => ({ apiTokens: 'keep' }), ...options }: Restoring = {}) {
  const wish = { file, open: () => readPath(file), dataDir: target, keyFile: null, ...options }
  return restoreBackup(wish, {
    now: clock.now,
    credentials: { ...NOTHING, ...credentials },
    onProgress: () => undefined,
    decide: async (plan) => decide(plan),
  })
}

const CONTENT = 'correct horse battery staple'

/**
 * Makes a backup of a stopped server, which has an account with two pushes, one of them used up, and an
 * anonymous push.
 */
async function makeBackup(parts: BackupParts = {}) {
  const api = await startApi({ dataDir, clock })
  const token = await api.addAccount(ANN, { isAdmin: true })
  const live = await api.create({ payload: CONTENT, name: 'invoice', note: 'for Bob' }, { token })
  const used = await api.create({ expire_after_views: 1 }, { token })
  const anonymous = await api.create({ payload: CONTENT })
  await api.retrieve(live.url_token)
  await api.retrieve(used.url_token)
  await api.stop()
  writeFileSync(file, await backupOf(dataDir, parts))
  return { token, live, used, anonymous }
}

/** Lists what the tests have left beside their own files. */
const leftovers = () => readdirSync(room).filter((name) => !['data', 'backup.tar'].includes(name))

test('accounts, lists, names, notes and logs are restored, and no push opens', async () => {
  const { token, live, used, anonymous } = await makeBackup()
  clock.advance(MINUTE)
  const restored = await restore()
  expect(restored).toMatchObject({ lost: 2, apiTokens: 'keep' })
  const api = await startApi({ dataDir: target, clock })
  const expired = await api.list('expired', token)
  expect(expired.map(({ url_token, name, note }) => ({ url_token, name, note }))).toEqual([
    { url_token: expect.any(String), name: '', note: '' },
    { url_token: expect.any(String), name: 'invoice', note: 'for Bob' },
  ])
  expect(await api.list('active', token)).toEqual([])
  const kinds = async (urlToken: string) => (await api.audit(urlToken, token)).map(({ kind }) => kind)
  const [freshUsed = '', freshLive = ''] = expired.map(({ url_token }) => url_token)
  expect(await kinds(freshLive)).toEqual(['creation', 'view', 'expire'])
  expect(await kinds(freshUsed)).toEqual(['creation', 'view'])
  for (const url_token of [freshUsed, freshLive, anonymous.url_token]) {
    const { body } = await api.retrieve(url_token)
    expect(body).toMatchObject({ expired: true, payload: null })
  }
  for (const { url_token } of [live, used]) expect((await api.retrieve(url_token)).status).toBe(404)
  await createPeople(api).signIn(ANN)
  await api.close()
})

test('requests are not restored, but their answers are, as received', async () => {
  const REQUESTS = '/api/oncebox/requests'
  const api = await startApi({ dataDir, clock })
  const token = await api.addAccount(ANN, { isAdmin: true })
  const request = { name: 'Router', message: 'The password, please', passphrase: 'p', max_answers: 3 }
  const { body: asked } = await api.call(REQUESTS, { token, json: { request } })
  const answers = `${REQUESTS}/${asked.url_token}/answers`
  const push = { payload: CONTENT, passphrase: 'p' }
  expect((await api.call(answers, { json: { push } })).status).toBe(201)
  await api.stop()
  writeFileSync(file, await backupOf(dataDir))
  clock.advance(MINUTE)
  await restore()
  const after = await startApi({ dataDir: target, clock })
  const { body: listed } = await after.call<(typeof asked)[]>(REQUESTS, { token })
  expect(listed).toEqual([])
  expect((await after.call(answers, { json: { push } })).status).toBe(404)
  expect(await after.list('expired', token)).toEqual([
    expect.objectContaining({ name: 'Router', received: true, request: null }),
  ])
  await after.close()
})

test('people sign in with their second factor, and sessions are not restored', async () => {
  const api = await startApi({ dataDir, clock })
  const people = createPeople(api)
  await api.addAccount(ANN)
  const ann = await people.signIn(ANN)
  const fields = { secret: SECRET, code: codeOf(SECRET, clock.now()), password: people.password }
  const { text: codes } = await ann.post('/account/two-factor', fields)
  const [recovery = ''] = (/<pre id="codes">([^<]+)</.exec(codes)?.[1] ?? '').split('\n')
  await api.stop()
  writeFileSync(file, await backupOf(dataDir))
  clock.advance(2 * MINUTE)
  await restore()
  const after = await startApi({ dataDir: target, clock })
  expect((await after.fetch('/pushes', { headers: { cookie: ann.cookie } })).status).toBe(303)
  const again = createPeople(after)
  for (const code of [codeOf(SECRET, clock.now()), recovery]) {
    const { text } = await again.post('/sign-in', { email: ANN, password: people.password })
    const pending = /name="pending" value="([\w-]+)"/.exec(text)?.[1] ?? 'none'
    expect((await again.post('/sign-in/code', { pending, code })).status).toBe(303)
  }
  await after.close()
})

test('the plan says what will be restored before anything is done', async () => {
  await makeBackup({ members: { 'tls-authority.pem': 'PEM' } })
  clock.advance(400 * DAY)
  let plan: RestorePlan | null = null
  await restore({
    decide: (told) => {
      plan = told
      expect(existsSync(join(target, 'oncebox.db'))).toBe(false)
      return { apiTokens: 'keep' }
    },
  })
  expect(plan).toMatchObject({
    manifest: { version: '3.0.0' },
    ...{
      seal: 'none',
      hasKeyFile: false,
      hasAuthority: true,
      isClockBehind: false,
      now: START + 400 * DAY,
    },
    // No push is active, because all of them expired before this restore.
    content: {
      ...{ accounts: 1, pushes: 3, active: 0, leftOut: 0 },
      apiTokens: [{ email: ANN, name: expect.any(String) }],
    },
  })
  expect(JSON.stringify(plan)).not.toContain('The key of this Oncebox')
  expect(readFileSync(join(target, 'tls-authority.pem'), 'utf8')).toBe('PEM')
})

test('either all API tokens work again, or none does', async () => {
  const { token } = await makeBackup()
  await restore()
  const kept = await startApi({ dataDir: target, clock })
  expect((await kept.call('/api/v2/pushes/active', { token })).status).toBe(200)
  await kept.close()
  await restore({ decide: () => ({ apiTokens: 'revoke' }) })
  const revoked = await startApi({ dataDir: target, clock })
  expect((await revoked.call('/api/v2/pushes/active', { token })).status).toBe(401)
  await revoked.close()
})

test('a restored passkey signs in by itself only after it was used together with the password', async () => {
  const flags = { 'base-url': 'http://localhost' }
  const former = await startInstance({ dataDir, clock, flags })
  await former.addAccount(ANN)
  const ann = createBrowser(former)
  const signIn = { email: ANN, password: 'correct horse battery' }
  await ann.post('/sign-in', signIn)
  const key = createAuthenticator()
  const passkey = JSON.stringify(key.create(await askChallenge(ann, { for: 'add' })))
  expect((await ann.post('/account/passkeys', { passkey })).status).toBe(200)
  await former.stop()
  writeFileSync(file, await backupOf(dataDir, {}))
  await restore()
  const restored = await startInstance({ dataDir: target, clock, flags })
  const enter = async (pending = '') => {
    const browser = createBrowser(restored)
    const call = await askChallenge(browser, pending ? { pending } : {})
    return (await browser.post('/sign-in/passkey', { pending, passkey: JSON.stringify(key.get(call)) }))
      .status
  }
  expect(await enter()).toBe(422)
  const browser = createBrowser(restored)
  expect(await enter(browser.hidden((await browser.post('/sign-in', signIn)).text, 'pending'))).toBe(303)
  expect(await enter()).toBe(303)
  await restored.close()
})

test('a refused confirmation leaves nothing behind', async () => {
  await makeBackup()
  const decide = () => {
    throw new Error('no')
  }
  await expect(restore({ decide })).rejects.toThrow('no')
  expect(leftovers()).toEqual([])
  mkdirSync(target)
  await expect(restore({ decide })).rejects.toThrow('no')
  expect(readdirSync(target)).toEqual([])
})

test('a clock behind the last use of the server is reported', async () => {
  await makeBackup()
  clock.set(START - 2 * DAY)
  const plans: boolean[] = []
  await restore({
    decide: ({ isClockBehind }) => {
      plans.push(isClockBehind)
      return { apiTokens: 'keep' }
    },
  })
  expect(plans).toEqual([true])
})

describe('the target', () => {
  test('may be an empty folder, or a missing one, whose parents are created', async () => {
    await makeBackup()
    await restore({ dataDir: join(target, 'deep', 'er') })
    expect(readdirSync(join(target, 'deep', 'er')).sort()).toEqual(['instance.key', 'oncebox.db'])
    const empty = join(room, 'empty')
    mkdirSync(join(empty, 'lost+found'), { recursive: true })
    chmodSync(empty, 0o755)
    await restore({ dataDir: empty })
    expect(readdirSync(empty).sort()).toEqual(['instance.key', 'lost+found', 'oncebox.db'])
    for (const path of [empty, join(target, 'deep', 'er')]) expect(statSync(path).mode & 0o777).toBe(0o700)
    for (const name of ['instance.key', 'oncebox.db'])
      expect(statSync(join(empty, name)).mode & 0o777).toBe(0o600)
  })

  test.each<[string, () => void]>([
    ['a folder with data', () => mkdirSync(join(target, 'x'), { recursive: true })],
    ['a file', () => writeFileSync(target, '')],
    ['a link that leads nowhere', () => symlinkSync('/nowhere/at/all', target)],
  ])('%s is never replaced', async (_, make) => {
    await makeBackup()
    make()
    await expect(restore()).rejects.toThrow('A restore never replaces anything')
    expect(readdirSync(room).sort()).toEqual(['backup.tar', 'data', 'new'])
  })

  test('is never the folder of the server itself', async () => {
    await makeBackup()
    const before = readFileSync(join(dataDir, 'oncebox.db'))
    await expect(restore({ dataDir })).rejects.toThrow('it is not empty')
    expect(readFileSync(join(dataDir, 'oncebox.db')).equals(before)).toBe(true)
  })

  test('is cleaned of leftovers of killed restores', async () => {
    await makeBackup()
    mkdirSync(join(target, '.oncebox-restore-abc'), { recursive: true })
    writeFileSync(join(target, 'instance.key'), 'of the killed one')
    await restore()
    expect(readdirSync(target).sort()).toEqual(['instance.key', 'oncebox.db'])
  })
})

describe('keys', () => {
  test('a backup without its key needs the key file, which is not copied into the folder', async () => {
    await makeBackup({ members: { 'instance.key': null } })
    await expect(restore()).rejects.toThrow('Name the key file of its server with --key-file')
    expect(leftovers()).toEqual([])
    await restore({ keyFile: join(dataDir, 'instance.key') })
    expect(readdirSync(target)).toEqual(['oncebox.db'])
  })

  test('a wrong key is refused, from a file or from the backup', async () => {
    await makeBackup({ members: { 'instance.key': newKeyFile() } })
    await expect(restore()).rejects.toThrow('does not belong to this database')
    await makeOther()
    const other = join(room, 'other.key')
    writeFileSync(other, newKeyFile(), { mode: 0o600 })
    await expect(restore({ keyFile: other })).rejects.toThrow(
      `The key file ${other} does not belong to this database`,
    )
    await expect(restore({ keyFile: join(room, 'missing') })).rejects.toThrow('there is no such file')
    writeFileSync(other, 'nonsense')
    await expect(restore({ keyFile: other })).rejects.toThrow('line 1 is not')
  })

  const makeOther = async () =>
    writeFileSync(file, await backupOf(dataDir, { members: { 'instance.key': null } }))

  test('an unreadable key in the backup is refused without quoting it', async () => {
    await makeBackup({ members: { 'instance.key': '1 5ecre7' } })
    const refusal = await restore().catch((cause: Error) => cause.message)
    expect(refusal).toContain('cannot be read: line 1')
    expect(refusal).not.toContain('5ecre7')
  })
})

describe('encrypted backups', () => {
  async function keyPair() {
    const identity = await generateX25519Identity()
    return { identity, recipient: await identityToRecipient(identity) }
  }

  test('can be decrypted with the right key; the error for another key or none says so', async () => {
    const { identity, recipient } = await keyPair()
    const { identity: other } = await keyPair()
    await makeBackup({ seal: { recipients: [recipient] } })
    const given = (...texts: string[]) => ({ identities: texts.map((text) => ({ path: '/key.txt', text })) })
    await expect(restore()).rejects.toThrow('name the file with the secret key with --identity')
    await expect(restore({ credentials: given(other) })).rejects.toThrow('none of the keys decrypts it')
    await expect(restore({ credentials: given('nonsense') })).rejects.toThrow('holds no secret key of age')
    await expect(restore({ credentials: { passphrase: 'x' } })).rejects.toThrow('is encrypted for a key')
    expect(leftovers()).toEqual([])
    await restore({ credentials: given(`# a comment\n${other}\n`, identity) })
    expect(existsSync(join(target, 'oncebox.db'))).toBe(true)
  })

  useLightScrypt()

  test('ask for the passphrase, and a wrong one decrypts nothing', async () => {
    await makeBackup({ seal: { passphrase: 'open sesame' } })
    await expect(restore({ credentials: { askPassphrase: async () => 'wrong' } })).rejects.toThrow(
      'the passphrase is wrong',
    )
    const { identity } = await keyPair()
    const identities = [{ path: '/key.txt', text: identity }]
    await expect(restore({ credentials: { identities } })).rejects.toThrow('--identity does not open it')
    expect(leftovers()).toEqual([])
    await restore({ credentials: { askPassphrase: async () => 'open sesame' } })
  }, 300_000)

  test('replaced by a plain file are refused', async () => {
    const { identity } = await keyPair()
    await makeBackup()
    const identities = [{ path: '/key.txt', text: identity }]
    await expect(restore({ credentials: { identities } })).rejects.toThrow(
      'is not encrypted. Omit --identity',
    )
    await expect(restore({ credentials: { passphrase: 'x' } })).rejects.toThrow('Omit --passphrase-file')
    expect(leftovers()).toEqual([])
  })
})

test('a backup packed by another program is restored and served', async () => {
  const path = join(room, 'former.db')
  makeDatabase(path)
  const all = {
    ...{ 'settings.json': '{}', 'instance.key': newKeyFile(), 'tls-authority.pem': null },
    'oncebox.db': readFileSync(path),
  }
  writeFileSync(file, await packBackup(all, { version: '3.0.0-former' }))
  rmSync(path)
  expect(await restore()).toMatchObject({ lost: 2, content: { leftOut: 0 } })
  const api = await startApi({ dataDir: target, clock })
  expect((await api.accounts().requireAccount(ANN)).id).toBe(7)
  const counts = api.entries().map(({ kind }) => kind)
  expect(counts.filter((kind) => kind === 'expire')).toHaveLength(2)
  await api.close()
})

describe('files that are not a backup of this program', () => {
  test('a backup of a later schema is refused', async () => {
    await makeBackup()
    edit(join(dataDir, 'oncebox.db'), (database) => database.run('PRAGMA user_version = 999'))
    writeFileSync(file, await backupOf(dataDir))
    await expect(restore()).rejects.toThrow('was written by a newer Oncebox (its schema is version 999')
    expect(leftovers()).toEqual([])
  })

  test('any altered or missing byte is detected, and nothing is left behind', async () => {
    await makeBackup()
    const whole = readFileSync(file)
    const cuts = Array.from({ length: 40 }, (_, n) => Math.floor(((n + 0.5) * whole.length) / 40))
    for (const at of cuts) {
      const altered = Buffer.from(whole)
      altered[at] = (altered[at] ?? 0) ^ 0x41
      writeFileSync(file, altered)
      const isRefused = await restore().then(
        () => false,
        (cause) => cause.constructor.name === 'DomainError',
      )
      // Padding after a member is not read.
      if (!isRefused) rmSync(target, { recursive: true })
      expect({ at, isRefused: isRefused || isFilling(whole, at) }).toEqual({ at, isRefused: true })
      writeFileSync(file, whole.subarray(0, at))
      await expect(restore()).rejects.toThrow(/damaged|altered|empty/)
      expect(leftovers()).toEqual([])
    }
  }, 300_000)
})

/** Whether the byte is one of the zeros between or after the members. */
function isFilling(tar: Buffer, at: number): boolean {
  for (let start = 0; start + 512 <= tar.length; ) {
    const size = Number.parseInt(tar.toString('latin1', start + 124, start + 135), 8) || 0
    const end = start + 512 + size
    const next = start + 512 + Math.ceil(size / 512) * 512
    if (at < next) return at >= end || (at >= start + 257 && at < start + 512) || tar[start] === 0
    start = next
  }
  return true
}

test('a damaged row is not restored, and the report says so', async () => {
  await makeBackup()
  edit(join(dataDir, 'oncebox.db'), (database) =>
    database.run("UPDATE pushes SET kind = 'cake' WHERE id = 1"),
  )
  writeFileSync(file, await backupOf(dataDir))
  expect((await restore()).content).toMatchObject({ leftOut: 1, pushes: 2 })
})

test('the folder is complete after the last step and unusable before, whichever step fails', async () => {
  await makeBackup()
  const steps: string[] = []
  listenAtSteps((step) => steps.push(step))
  await restore()
  rmSync(target, { recursive: true })
  expect(steps.length).toBeGreaterThan(5)
  for (const failing of steps) {
    listenAtSteps((step) => {
      if (step === failing) throw new Error('stopped')
    })
    await expect(restore()).rejects.toThrow('stopped')
    if (!existsSync(target)) {
      expect({ failing, left: leftovers() }).toEqual({ failing, left: [] })
      continue
    }
    const database = new Database(join(target, 'oncebox.db'), { readonly: true })
    expect(database.query('SELECT count(*) AS n FROM pushes WHERE lost = 1').get()).toEqual({ n: 2 })
    database.close()
    rmSync(target, { recursive: true })
  }
})
