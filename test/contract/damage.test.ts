// Rows and files that the disk altered: requests for them get an error, other requests work, and the operator
// is notified.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DamageError } from '../../src/domain/errors.ts'
import { placeDamage } from '../../src/operating/logging.ts'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { alterDatabase } from '../support/damage.ts'

let api: Api
let owner: string
beforeEach(async () => {
  api = await startApi()
  owner = await api.addAccount('ann@example.org', { isAdmin: true })
})
afterEach(() => api.close())

const alter = (statement: string) => alterDatabase(api.dataDir, statement)

const REMEDY = 'docs/damage.md says what to do; no backup holds what is inside a push'

/** Returns how often the log reports a damaged place by itself, not as the cause of a failed request. */
const toldOf = (place: string) =>
  api.log.filter(
    (line) =>
      line.includes(` error damaged on disk: ${place}`) &&
      line.endsWith(` is not as it was written. ${REMEDY}`),
  ).length

/** Returns the number of this process's open descriptors of `path`. Linux only. */
function openHandlesOf(path: string): number {
  if (process.platform !== 'linux') return 0
  const links = readdirSync('/proc/self/fd').map((fd) => readLink(`/proc/self/fd/${fd}`))
  return links.filter((link) => link === realpathSync(path)).length
}

/** Returns null for a descriptor that was closed meanwhile. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

async function signIn(email: string): Promise<{ cookie: string }> {
  const body = new URLSearchParams({ email, password: 'correct horse battery' }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }
  const answer = await api.fetch('/sign-in', { method: 'POST', body, headers })
  return { cookie: answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}

const page = async (path: string, headers: { cookie: string }) => {
  const response = await api.fetch(path, { headers })
  return { status: response.status, text: await response.text() }
}

test.each([
  ['its payload', "UPDATE push_secrets SET payload = x'0101'"],
  ['its key', 'UPDATE push_keys SET wrapped_key = zeroblob(62)'],
  ['the name of its file', "UPDATE push_files SET filename = x'0101'"],
  ['a file that it has lost', 'DELETE FROM push_files'],
])('a push with damage in %s is not handed out, and the log identifies it', async (_, damage) => {
  const body = new FormData()
  body.set('push[kind]', 'file')
  body.append('push[files][]', new File(['content'], 'a.txt'))
  const created = await api.call<{ url_token: string }>(PUSHES, { method: 'POST', body, token: owner })
  expect(created.status).toBe(201)
  alter(damage)
  expect((await api.retrieve(created.body.url_token)).status).toBe(500)
  expect(api.log.join('\n')).toContain('damaged on disk: push 1 is not as it was written')
  expect(api.entries().map(({ kind }) => kind)).toEqual(['creation'])
})

test('/readyz counts each damage once, including damage that only a request found', async () => {
  const damaged = async () => {
    const answer = await api.fetch('/readyz', { from: '127.0.0.1' })
    return ((await answer.json()) as { checks: { damage: string } }).checks.damage
  }
  const made: string[] = []
  for (const payload of ['one', 'two', 'three']) made.push((await api.create({ payload })).url_token)
  const body = new FormData()
  body.set('push[kind]', 'file')
  for (const name of ['a.txt', 'b.txt']) body.append('push[files][]', new File(['content'], name))
  const files = await api.call<{ url_token: string }>(PUSHES, { method: 'POST', body, token: owner })
  expect(await damaged()).toBe('ok')
  alter("UPDATE push_secrets SET payload = x'0101' WHERE push_id < 3")
  for (const urlToken of [...made, ...made]) await api.retrieve(urlToken)
  expect(await damaged()).toStartWith('2 places on the disk are damaged')
  rmSync(join(api.dataDir, 'files'), { recursive: true })
  expect((await api.retrieve(files.body.url_token)).status).toBe(500)
  expect(await damaged()).toStartWith('4 places on the disk are damaged')
})

test('a page that SQLite reports as malformed counts as damage', () => {
  const cause = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT_VTAB' })
  expect(placeDamage(cause, { databaseUrl: null })).toBeInstanceOf(DamageError)
})

describe('a damaged file is reported', () => {
  const content = 'x'.repeat(3_000_000)
  async function pushFile(fields: Record<string, string> = {}) {
    const body = new FormData()
    body.set('push[kind]', 'file')
    for (const [name, value] of Object.entries(fields)) body.set(`push[${name}]`, value)
    body.append('push[files][]', new File([content], 'a.txt'))
    const created = await api.call<{ url_token: string }>(PUSHES, { method: 'POST', body, token: owner })
    const [path = ''] = readdirSync(join(api.dataDir, 'files'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    return { urlToken: created.body.url_token, path }
  }
  const download = async (urlToken: string) => {
    const { body } = await api.retrieve(urlToken)
    const [file] = body.files as { url: string }[]
    return new URL(file?.url ?? '').pathname
  }

  test.each([
    ['missing', (path: string) => rmSync(path)],
    ['cut off', (path: string) => truncateSync(path, 1000)],
  ])('%s: before a view is counted, and on a download', async (_, damage) => {
    const { urlToken, path } = await pushFile()
    const grant = await download(urlToken)
    damage(path)
    expect((await api.retrieve(urlToken)).status).toBe(500)
    expect(api.entries().map(({ kind }) => kind)).toEqual(['creation', 'view'])
    expect((await api.fetch(grant)).status).toBe(500)
    // Each request logs one line.
    const told = api.log.filter((line) => /a file of push 1 \(\w+\) is not as it was written/.test(line))
    expect(told.length).toBeGreaterThanOrEqual(2)
  })

  test('unreadable: each download is refused, and its file is closed again', async () => {
    const { urlToken, path } = await pushFile()
    const grant = await download(urlToken)
    rmSync(path)
    // A folder can be opened, but every read of it fails, as on a bad disk.
    mkdirSync(path)
    expect((await api.fetch(grant)).status).toBe(500)
    expect(openHandlesOf(path)).toBe(0)
  })

  test('missing beside a text: the recipient gets the rest, and it is reported to the operator', async () => {
    const { urlToken, path } = await pushFile({ payload: 'the rest' })
    rmSync(path)
    const { status, body } = await api.retrieve(urlToken)
    expect([status, body.payload]).toEqual([200, 'the rest'])
    expect(toldOf('a file of push 1 (')).toBe(1)
  })

  test('missing behind a passphrase: reported only with the right passphrase', async () => {
    const { urlToken, path } = await pushFile({ passphrase: 'open sesame' })
    rmSync(path)
    expect((await api.retrieve(urlToken)).status).toBe(401)
    const headers = { 'x-push-passphrase': 'open%20sesame' }
    expect((await api.retrieve(urlToken, { headers })).status).toBe(500)
  })

  test('altered: the download breaks off', async () => {
    const { urlToken, path } = await pushFile()
    const bytes = readFileSync(path)
    bytes[2_900_000] = (bytes[2_900_000] ?? 0) ^ 1
    writeFileSync(path, bytes)
    const response = await api.fetch(await download(urlToken))
    expect(response.status).toBe(200)
    await expect(response.bytes()).rejects.toThrow()
    expect(toldOf('a file of push 1 (')).toBe(1)
  })

  test('removed with its push: that is no damage', async () => {
    const { urlToken } = await pushFile()
    const grant = await download(urlToken)
    await api.expire(urlToken, { token: owner })
    expect((await api.fetch(grant)).status).toBe(404)
    expect(api.log.join()).not.toContain('damaged')
  })
})

describe('lists show intact rows, and report each damaged one once', () => {
  test('of pushes with a damaged name', async () => {
    for (const name of ['one', 'two', 'three']) await api.create({ name }, { token: owner })
    const session = await signIn('ann@example.org')
    alter("UPDATE push_labels SET name = x'0101' WHERE push_id = 2")
    for (let n = 0; n < 2; n += 1)
      expect((await api.list('active', owner)).map(({ name }) => name)).toEqual(['three', 'one'])
    expect(toldOf('push 2')).toBe(1)
    const answer = await api.fetch(`${PUSHES}/active`, { token: owner })
    expect(answer.headers.get('x-oncebox-left-out')).toBe('1')
    const { status, text } = await page('/pushes', session)
    expect(status).toBe(200)
    expect(text).toContain('Damaged on the server and not shown: 1.')
    expect(text).not.toContain('two')
    expect((await page('/pushes?q=two', session)).text).toContain('not shown: 1.')
    expect((await page('/admin', session)).text).toContain(
      '1 place on the disk is damaged; the log names them',
    )
  })

  test('of pushes: the next page is still found', async () => {
    for (let n = 0; n < 60; n += 1) await api.create({ name: `name ${n}.` }, { token: owner })
    const session = await signIn('ann@example.org')
    alter("UPDATE push_labels SET name = x'0101' WHERE push_id = 50")
    expect((await api.list('active', owner)).length).toBe(49)
    expect((await api.list('active', owner, 2)).length).toBe(10)
    expect((await page('/pushes', session)).text).toContain('page=2')
    expect((await page('/pushes?q=name', session)).text).toContain('page=2')
    expect((await page('/pushes?q=name+3.', session)).text).toContain('name 3.')
  })

  test('if an altered row gives a push to another account, that account never sees its link or name', async () => {
    const other = await api.addAccount('bob@example.org')
    const { url_token: urlToken } = await api.create({ name: 'for Ann' }, { token: owner })
    alter("UPDATE pushes SET owner_id = (SELECT id FROM accounts WHERE email = 'bob@example.org')")
    expect(await api.list('active', other)).toEqual([])
    const shown = await page('/pushes?q=Ann', await signIn('bob@example.org'))
    expect(shown.text).toContain('not shown: 1.')
    expect(shown.text).not.toContain(urlToken)
    expect(toldOf('push 1')).toBe(1)
  })
})
