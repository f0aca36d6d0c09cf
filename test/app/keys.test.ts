// Rotation of the instance key: at every moment everything can be opened, and the old key is removed once
// nothing needs it.

import { Database } from 'bun:sqlite'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
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
import { basename, join } from 'node:path'
import { type KeyPlace, makeNewKey, rotateKey, showKeys } from '../../src/app/keys.ts'
import { newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { startApi, type Wire } from '../support/api.ts'
import { buildChild } from '../support/built-child.ts'
import { createTestClock, type TestClock } from '../support/instance.ts'
import { createPeople } from '../support/people.ts'
import { forgetBirth } from '../support/put-back.ts'
import { codeOf } from '../support/tour.ts'
import { isSigned, startReceiver } from '../support/webhooks.ts'

const WEBHOOKS = '/api/oncebox/webhooks'
const DAY = 24 * 60 * 60_000
const ANN = 'ann@example.org'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const KEY = 'a-key-that-somebody-made-up'

let child = ''
beforeAll(async () => {
  child = await buildChild('rotate-child.ts')
})

let room: string
let dataDir: string
let clock: TestClock
beforeEach(() => {
  room = mkdtempSync(join(tmpdir(), 'oncebox-keys-'))
  dataDir = join(room, 'data')
  clock = createTestClock()
})
afterEach(() => rmSync(room, { recursive: true, force: true }))

const placeOf = (changes: Partial<KeyPlace> = {}): KeyPlace => ({
  ...{ dataDir, keyFile: null, address: null },
  ...changes,
})
const keyPath = () => join(dataDir, 'instance.key')
const numbersIn = (path = keyPath()) =>
  parseKeyFile(readFileSync(path, 'utf8')).keys.map(({ number }) => number)

function rows<T>(sql: string): T[] {
  const database = new Database(join(dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<T, []>(sql).all()
  } finally {
    database.close()
  }
}

type Filled = {
  token: string
  live: string
  file: string
  ended: string
  anonymous: string
  repeated: string
}

/** Makes a stopped server with one record of each kind that is sealed under an instance key. */
async function fill(flags: Record<string, string> = {}): Promise<Filled> {
  const api = await startApi({ dataDir, clock, flags })
  const token = await api.addAccount(ANN)
  const create = async (push: Wire, init = {}) =>
    (await api.create({ payload: 'x', ...push }, init)).url_token
  const live = await create({ name: 'invoice', note: 'for Bob', passphrase: 'open sesame' }, { token })
  const file = await create({ files: [{ filename: 'f.txt', data: 'aGk=' }] }, { token })
  const ended = await create({ name: 'gone', expire_after_views: 1 }, { token })
  await api.retrieve(ended)
  const anonymous = await create({})
  const repeated = (await api.post({ payload: 'y' }, { headers: { 'idempotency-key': KEY } })).body
  const ann = await createPeople(api).signIn(ANN)
  const fields = { secret: SECRET, code: codeOf(SECRET, clock.now()), password: createPeople(api).password }
  expect((await ann.post('/account/two-factor', fields)).status).toBe(200)
  await api.stop()
  return { token, live, file, ended, anonymous, repeated: String(repeated.url_token) }
}

/** Serves the folder, and opens everything whose view does not end it. */
async function expectAllOpens(filled: Filled, flags: Record<string, string> = {}): Promise<void> {
  clock.advance(60_000)
  const api = await startApi({ dataDir, clock, flags })
  const { token, live, file, ended, anonymous, repeated } = filled
  const active = await api.list('active', token)
  expect(active.map(({ url_token, name, note }) => [url_token, name, note])).toEqual([
    [file, '', ''],
    [live, 'invoice', 'for Bob'],
  ])
  expect((await api.list('expired', token)).map(({ url_token, name }) => [url_token, name])).toEqual([
    [ended, 'gone'],
  ])
  const open = (urlToken: string, init = {}) => api.fetch(`/api/v2/pushes/${urlToken}`, init)
  expect((await open(live, { headers: { 'x-push-passphrase': 'open%20sesame' } })).status).toBe(200)
  const opened = await (await open(file)).json()
  expect(await (await api.fetch(new URL(opened.files[0].url).pathname)).text()).toBe('hi')
  expect(await (await open(anonymous)).json()).toMatchObject({ payload: 'x' })
  expect(await (await open(ended)).json()).toMatchObject({ expired: true, payload: null })
  const again = await api.post({ payload: 'y' }, { headers: { 'idempotency-key': KEY } })
  expect(again.body).toMatchObject({ url_token: repeated })
  const people = createPeople(api)
  const { text } = await people.post('/sign-in', { email: ANN, password: people.password })
  const pending = /name="pending" value="([\w-]+)"/.exec(text)?.[1] ?? 'none'
  expect((await people.post('/sign-in/code', { pending, code: codeOf(SECRET, clock.now()) })).status).toBe(
    303,
  )
  await api.stop()
}

test('a new key seals the data of accounts, and everything opens as before', async () => {
  const filled = await fill()
  const before = await showKeys(placeOf())
  expect(before.keys).toHaveLength(1)
  const { keys, removed } = await rotateKey(placeOf())
  expect([numbersIn(), removed]).toEqual([[2, 1], []])
  expect(keys[0]).toMatchObject({ number: 2 })
  expect(keys[1]).toMatchObject({ number: 1, fingerprint: before.keys[0]?.fingerprint ?? '' })
  const usesOf = (n: number) =>
    Object.fromEntries((keys[n]?.uses ?? []).map(({ kind, rows }) => [kind, rows]))
  expect(usesOf(0)).toEqual({ 'ended push': 1, 'second factor': 1, 'name and link': 3 })
  expect(usesOf(1)).toEqual({ 'live push': 4, 'idempotency key': 1 })
  expect(await showKeys(placeOf())).toMatchObject({ keys })
  await expectAllOpens(filled)
})

test('a request is found and answered under the new key, and its owner reads the answer', async () => {
  const REQUESTS = '/api/oncebox/requests'
  const api = await startApi({ dataDir, clock })
  const token = await api.addAccount(ANN)
  const request = { name: 'Router', message: 'The password, please', passphrase: 'p', max_answers: 2 }
  const { body: asked } = await api.call(REQUESTS, { token, json: { request } })
  const answers = `${REQUESTS}/${asked.url_token}/answers`
  const answer = (of: typeof api, passphrase: string) =>
    of.call(answers, { json: { push: { payload: 'x', passphrase } } })
  await answer(api, 'p')
  await api.stop()
  const { keys } = await rotateKey(placeOf())
  expect(keys[0]?.uses).toContainEqual({ number: 2, kind: 'request', rows: 1 })
  expect(keys[1]?.uses).toEqual([{ number: 1, kind: 'live push', rows: 1 }])
  const after = await startApi({ dataDir, clock })
  const { body: shown } = await after.call(`${REQUESTS}/${asked.url_token}`, { token })
  expect(shown).toEqual({ ...asked, answers: 1 })
  expect((await answer(after, 'q')).status).toBe(401)
  expect((await answer(after, 'p')).status).toBe(201)
  const received = await after.list('active', token)
  expect(received.map((push) => 'request' in push && push.request)).toEqual(Array(2).fill(asked.url_token))
  await after.stop()
})

test('a waiting link mail keeps its key, and an event mail needs none', async () => {
  const flags = {
    ...{ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' },
    'base-url': 'http://localhost',
  }
  const api = await startApi({ dataDir, clock, flags })
  const token = await api.addAccount(ANN)
  const ann = await createPeople(api).signIn(ANN)
  await ann.post('/account/mail', { 'push.opened': 'true' })
  const { url_token } = await api.create({ notify_emails_to: 'bob@example.org' }, { token })
  await api.fetch(`/api/v2/pushes/${url_token}`)
  expect(rows('SELECT kind FROM outbox ORDER BY id')).toEqual([{ kind: 'link_mail' }, { kind: 'event_mail' }])
  await api.stop()
  const { keys } = await showKeys(placeOf())
  expect(keys.map(({ number }) => number)).toEqual([1])
  expect(keys[0]?.uses).toContainEqual({ number: 1, kind: 'mail that waits', rows: 1 })
})

test('a webhook is delivered with the new key alone', async () => {
  const receiver = await startReceiver()
  const flags = { 'webhook-hosts': receiver.host }
  try {
    const api = await startApi({ dataDir, clock, flags })
    const token = await api.addAccount(ANN)
    const json = { webhook: { url: receiver.url('/path?token=x') } }
    const { secret = '', id } = (await api.call<{ secret?: string; id: number }>(WEBHOOKS, { json, token }))
      .body
    await api.stop()
    const { removed } = await rotateKey(placeOf())
    expect(removed.map(({ number }) => number)).toEqual([1])
    const later = await startApi({ dataDir, clock, flags })
    const tried = await later.call(`${WEBHOOKS}/${id}/test`, { method: 'POST', token })
    expect(tried.body).toMatchObject({ last_error: null })
    const [sent] = receiver.received
    expect(sent?.path).toBe('/path?token=x')
    expect(sent && isSigned(sent, secret)).toBe(true)
    await later.stop()
  } finally {
    receiver.close()
  }
})

test('an old key is removed once everything that it sealed has ended', async () => {
  const { token, live, ended } = await fill()
  await rotateKey(placeOf())
  const api = await startApi({ dataDir, clock })
  clock.advance(8 * DAY)
  await api.sweep()
  clock.advance(2 * DAY)
  await api.sweep()
  await api.stop()
  const { removed } = await rotateKey(placeOf())
  expect(removed.map(({ number }) => number)).toEqual([2, 1])
  expect(numbersIn()).toEqual([3])
  const again = await startApi({ dataDir, clock })
  expect((await again.list('expired', token)).map(({ url_token }) => url_token)).toContain(live)
  for (const urlToken of [live, ended])
    expect((await again.retrieve(urlToken)).body).toMatchObject({ expired: true })
  await again.stop()
  expect(rows('SELECT number FROM instance_keys')).toEqual([{ number: 3 }])
})

test('only pushes stay sealed under the old key', async () => {
  await fill()
  const sealed = rows<{ value: Uint8Array }>(
    'SELECT url_token AS value FROM push_labels UNION SELECT totp_secret FROM accounts',
  )
  await rotateKey(placeOf())
  const bytes = Buffer.concat(
    ['oncebox.db', 'oncebox.db-wal'].map((name) => {
      const path = join(dataDir, name)
      return statSync(path, { throwIfNoEntry: false }) === undefined ? Buffer.alloc(0) : readFileSync(path)
    }),
  )
  expect(sealed.length).toBeGreaterThan(3)
  for (const { value } of sealed) expect(bytes.includes(value)).toBe(false)
})

test('a rotation is refused while a server runs, and listing keys is not', async () => {
  const api = await startApi({ dataDir, clock })
  await expect(rotateKey(placeOf())).rejects.toThrow(`is already served by process ${process.pid}`)
  expect(numbersIn()).toEqual([1])
  expect((await showKeys(placeOf())).keys).toHaveLength(1)
  await api.close()
})

describe('a key file elsewhere', () => {
  test('is replaced behind a symlink, with the same mode', async () => {
    const keyFile = join(room, 'linked.key')
    const real = join(room, 'real.key')
    writeFileSync(real, newKeyFile(), { mode: 0o640 })
    chmodSync(real, 0o640)
    symlinkSync(real, keyFile)
    const filled = await fill({ 'key-file': keyFile })
    await rotateKey(placeOf({ keyFile }))
    expect(numbersIn(real)).toEqual([2, 1])
    expect(statSync(real).mode & 0o777).toBe(0o640)
    await expectAllOpens(filled, { 'key-file': keyFile })
  })

  test('of another database is refused with both fingerprints, before and after a rotation', async () => {
    await fill()
    const former = join(room, 'former.key')
    cpSync(keyPath(), former)
    const other = join(room, 'other.key')
    writeFileSync(other, newKeyFile(), { mode: 0o600 })
    const fingerprints = /fingerprint [0-9a-f-]{19}, the database was written with [0-9a-f-]{19}/
    for (const work of [rotateKey, showKeys])
      await expect(work(placeOf({ keyFile: other }))).rejects.toThrow(fingerprints)
    await rotateKey(placeOf())
    await expect(showKeys(placeOf({ keyFile: other }))).rejects.toThrow(fingerprints)
    const start = startApi({ dataDir, clock, flags: { 'key-file': former } })
    await expect(start).rejects.toThrow(/Key 2 \([0-9a-f-]{19}\) is missing .* holds key 1 \([0-9a-f-]{19}\)/)
  })
})

/**
 * Rotates in a process that kills itself at a step; 0 for none. Returns its output: nothing, or the number of
 * steps.
 */
async function rotateKilledAt(killAt: number, ...keyFile: string[]): Promise<string> {
  const rotation = Bun.spawn([process.execPath, child, dataDir, String(killAt), ...keyFile], {
    stdout: 'pipe',
  })
  await rotation.exited
  return (await new Response(rotation.stdout).text()).trim()
}

/** Two key files are written, in four steps each, and there are four other steps. */
const STEPS = 12

test('everything opens after a kill at any moment, and the next run completes the rotation', async () => {
  const filled = await fill()
  const whole = join(room, 'whole')
  cpSync(dataDir, whole, { recursive: true })
  expect(await rotateKilledAt(0)).toBe(String(STEPS))
  for (let killAt = 1; killAt <= STEPS; killAt += 1) {
    rmSync(dataDir, { recursive: true })
    cpSync(whole, `${dataDir}.new`, { recursive: true, preserveTimestamps: true })
    renameSync(`${dataDir}.new`, dataDir)
    forgetBirth(dataDir)
    expect(await rotateKilledAt(killAt)).toBe('')
    await expectAllOpens(filled)
    await rotateKey(placeOf())
    expect(numbersIn()).toHaveLength(2)
    await expectAllOpens(filled)
  }
}, 120_000)

describe('the leftover key file of a killed rotation', () => {
  const unfinishedIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('.key.'))

  test.each([
    ['in the data folder', false],
    ['elsewhere, named by a symlink', true],
  ])(
    '%s: is removed by a start and by a rotation',
    async (_, isElsewhere) => {
      const place = isElsewhere ? join(room, 'keys') : dataDir
      const keyFile = isElsewhere ? join(room, 'link') : null
      if (keyFile !== null) {
        mkdirSync(place)
        makeNewKey(join(place, 'my.key'))
        symlinkSync(join(place, 'my.key'), keyFile)
      }
      const flags: Record<string, string> = keyFile === null ? {} : { 'key-file': keyFile }
      const start = async () => (await startApi({ dataDir, clock, flags })).stop()
      const stranger = join(place, 'other.key.1.oncebox-new.txt')
      await start()
      writeFileSync(stranger, '')
      let left = 0
      for (let killAt = 1; killAt <= STEPS; killAt += 1)
        for (const next of [start, () => rotateKey(placeOf({ keyFile }))]) {
          await rotateKilledAt(killAt, ...(keyFile === null ? [] : [keyFile]))
          left += unfinishedIn(place).length - 1
          await next()
          expect(unfinishedIn(place)).toEqual([basename(stranger)])
        }
      expect(left).toBeGreaterThan(8)
    },
    120_000,
  )

  test('is named by a start and refused by a rotation if it cannot be removed', async () => {
    const keys = join(room, 'keys')
    mkdirSync(keys)
    const keyFile = join(keys, 'my.key')
    makeNewKey(keyFile)
    await (await startApi({ dataDir, clock, flags: { 'key-file': keyFile } })).stop()
    const left = `${keyFile}.7.oncebox-new`
    // A folder in place of the file cannot be unlinked.
    mkdirSync(left)
    const api = await startApi({ dataDir, clock, flags: { 'key-file': keyFile } })
    expect(api.log.join('\n')).toContain(left)
    await api.stop()
    await expect(rotateKey(placeOf({ keyFile }))).rejects.toThrow(left)
    expect(numbersIn(keyFile)).toEqual([1])
  })

  test('a start also removes leftovers of its other files, and nothing else', async () => {
    await (await startApi({ dataDir, clock })).stop()
    const authority = join(room, 'authority.pem')
    const left = ['serve.home.9', 'tls-certificate.pem.9', 'backups.json.9'].map((name) =>
      join(dataDir, name),
    )
    const unfinished = [...left, `${authority}.9`].map((path) => `${path}.oncebox-new`)
    const others = [join(room, 'other.pem.9.oncebox-new'), join(dataDir, 'mine.oncebox-new')]
    for (const path of [...unfinished, ...others]) writeFileSync(path, 'left')
    const api = await startApi({ dataDir, clock, flags: { tls: 'auto', 'tls-authority-key': authority } })
    await api.stop()
    expect(unfinished.filter(existsSync)).toEqual([])
    expect(others.filter(existsSync)).toEqual(others)
  })
})
