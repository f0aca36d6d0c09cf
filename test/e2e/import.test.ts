// Real data of a Password Pusher, imported by the command line into a folder that a server then serves: links
// through both versions of the API, the pages and `oncebox get`; sign-ins, clients, and the final comparison.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { asOf, type ExpectedPush, expected, FIXTURE, isOver } from '../support/fixture.ts'
import { copyFixture } from '../support/fixture-copy.ts'
import { sqliteSink } from '../support/password-pusher-sinks.ts'
import { createPeople } from '../support/people.ts'

const stage = createStage()
let command: string[]
let dataDir: string
/** Copies the folder as it was after the import, because each reader uses up views. */
let imported: string
let server: Started

/** Shifts the data's times to now, because the remaining days depend on the time. */
beforeAll(async () => {
  dataDir = join(stage.folder(), 'box')
  const sink = sqliteSink(join(stage.folder(), 'production.sqlite3'))
  await copyFixture(sink, Date.now() - asOf)
  await sink.close()
  command = ['import', 'password-pusher', '--database', sink.database, '--storage', join(FIXTURE, 'storage')]
  command.push(
    '--master-key-file',
    join(FIXTURE, 'master.key'),
    '--data-dir',
    dataDir,
    '--min-free-space',
    '0',
  )
})

afterAll(stage.clear)

/** Returns a command's messages without its progress lines. */
const complaintsIn = (stderr: string) => stderr.split('\n').filter((line) => line && !line.startsWith('… '))

test('a dry run reports what would be imported, and creates no folder', async () => {
  const { stdout, stderr, code } = await runBinary([...command, '--dry-run'])
  expect(complaintsIn(stderr)).toEqual([])
  expect({ code, isMade: existsSync(dataDir) }).toEqual({ code: 0, isMade: false })
  expect(stdout).toContain('Would import from Password Pusher (tables of version 20260509010000)')
  expect(stdout).toContain('9 active pushes with 2 files')
})

test('the import succeeds, and the comparison finds no difference', async () => {
  const { stdout, stderr, code } = await runBinary(command)
  expect({ complaints: complaintsIn(stderr), code }).toEqual({ complaints: [], code: 0 })
  expect(stdout).toContain('3 accounts, 3 API tokens, 1 second factor')
  const verified = await runBinary([...command, '--verify'])
  expect({ complaints: complaintsIn(verified.stderr), code: verified.code }).toEqual({
    complaints: [],
    code: 0,
  })
  expect(verified.stdout).toContain('Compared 3 accounts, 9 active and 3 expired pushes')
  expect(verified.stdout).toContain('Everything that could be compared is the same')
  imported = join(stage.folder(), 'imported')
  cpSync(dataDir, imported, { recursive: true })
  server = await stage.start({ dataDir })
})

test('an import beside the running server is refused, and so is a wrong key', async () => {
  const beside = await runBinary(command)
  expect(beside.code).toBe(1)
  expect(beside.stderr).toContain('is in use')
  const other = stage.folder()
  const key = join(other, 'wrong.key')
  await Bun.write(key, 'f0'.repeat(32))
  const wrong = await runBinary([...command, '--master-key-file', key, '--data-dir', join(other, 'box')])
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toContain(`Nothing was imported: the master key in ${key}`)
  expect(existsSync(join(other, 'box'))).toBe(false)
})

test('every link shows its push in a browser, without opening it', async () => {
  for (const push of expected.pushes) {
    const { url_token: token } = push
    const moved = [`/en/p/${token}`, `/f/${token}`, `/r/${token}`, `/f/${token}/r`, `/de/p/${token}/r`]
    for (const path of moved) {
      const answer = await server.ask(path, { redirect: 'manual' })
      expect([path, answer.status]).toEqual([path, 301])
      expect(new URL(answer.headers.get('location') ?? '', server.url).pathname).toStartWith(`/p/${token}`)
    }
    for (const path of [`/p/${token}`, `/p/${token}/r`])
      expect((await server.ask(path)).status).toBe(isOver(push) ? 404 : 200)
    const preview = await (await server.ask(`/api/v2/pushes/${token}/preview.json`)).json()
    expect(preview.url).toBe(`${server.url}/p/${token}${push.retrieval_step ? '/r' : ''}`)
  }
})

test('clients can use their tokens in every scheme, and see their lists', async () => {
  for (const { email, api_token: token } of expected.accounts) {
    const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`
    const schemes: Record<string, string>[] = [
      { authorization: `Bearer ${token}` },
      { authorization: `Token ${token}` },
      { authorization: `Token token=${token}` },
      { authorization: `Token token="${token}"` },
      { authorization: token },
      { authorization: basic(`${email}:${token}`) },
      { authorization: basic(`${token}:`) },
      { authorization: basic(token) },
      { 'x-user-token': token, 'x-user-email': email },
      { 'x-user-token': token },
    ]
    const own = expected.pushes.filter((push) => push.owner === email && !isOver(push))
    for (const headers of schemes)
      for (const path of ['/api/v2/pushes/active', '/p/active.json', '/en/d/active.json']) {
        const answer = await server.ask(path, { headers })
        expect([path, headers, answer.status]).toEqual([path, headers, 200])
        expect(await answer.json()).toHaveLength(own.length)
      }
  }
})

test('people sign in with their passwords and second factors', async () => {
  const people = peopleAt(server)
  for (const { email, password, totp_secret: secret } of expected.accounts) {
    expect((await people.post('/sign-in', { email, password: `${password}!` })).status).toBe(422)
    const asked = await people.post('/sign-in', { email, password })
    if (secret === null) {
      expect(asked.status).toBe(303)
      continue
    }
    const pending = /name="pending" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    expect((await people.post('/sign-in/code', { pending, code })).status).toBe(303)
  }
})

/** Headers of a form of the same site, which the pages require. */
function peopleAt({ url, ask }: Started) {
  return createPeople({
    fetch: (path, init) => {
      const headers = new Headers(init?.headers)
      if (headers.has('origin')) headers.set('origin', url)
      return ask(path, {
        method: init?.method ?? 'GET',
        body: init?.body ?? null,
        headers,
        redirect: 'manual',
      })
    },
  })
}

type Read = { payload: string; files: { filename: string; bytes: number; sha256: string }[] }
type Reader = (push: ExpectedPush, at: Started) => Promise<Read>

const READERS: Record<string, Reader> = {
  'version 2 of the API': (push, at) => readJson(push, at, `/api/v2/pushes/${push.url_token}`),
  'the old /p': (push, at) => readJson(push, at, `/p/${push.url_token}.json`),
  'the old /f': (push, at) => readJson(push, at, `/f/${push.url_token}.json`),
  'the old /r': (push, at) => readJson(push, at, `/r/${push.url_token}.json`),
  'the page': readPage,
  'the command line': readByCommand,
}

test.each(Object.entries(READERS))('live pushes open through %s', async (_name, read) => {
  const copy = join(stage.folder(), 'copy')
  cpSync(imported, copy, { recursive: true })
  const at = await stage.start({ dataDir: copy })
  for (const push of expected.pushes.filter((push) => !isOver(push)))
    expect({ label: push.label, ...(await read(push, at)) }).toEqual({
      label: push.label,
      payload: push.payload ?? '',
      files: push.files,
    })
  await at.end()
})

const described = (filename: string, content: Uint8Array) => ({
  filename,
  bytes: content.length,
  sha256: createHash('sha256').update(content).digest('hex'),
})

async function readJson({ passphrase }: ExpectedPush, at: Started, path: string): Promise<Read> {
  const query = passphrase ? `?passphrase=${encodeURIComponent(passphrase)}` : ''
  if (query !== '') expect((await at.ask(path)).status).toBe(401)
  const { payload, files } = await (await at.ask(path + query)).json()
  return { payload, files: await download(files) }
}

function download(files: { filename: string; url: string }[]): Promise<Read['files']> {
  return Promise.all(
    files.map(async ({ filename, url }) => described(filename, await (await fetch(url)).bytes())),
  )
}

async function readPage(push: ExpectedPush, at: Started): Promise<Read> {
  const people = peopleAt(at)
  const asked = await people.get(`/p/${push.url_token}`)
  const hidden = [...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, value ?? '']))
  const shown = await people.post(`/p/${push.url_token}`, { ...fields, passphrase: push.passphrase ?? '' })
  expect({ label: push.label, status: shown.status }).toEqual({ label: push.label, status: 200 })
  const files = [...shown.text.matchAll(/<a [^>]*class="button file [^"]*"[^>]*>/g)].map(([link]) => ({
    filename: unescapeHtml(/ download="([^"]*)"/.exec(link)?.[1] ?? ''),
    url: new URL(/ href="([^"]*)"/.exec(link)?.[1] ?? '', at.url).href,
  }))
  return { payload: shownPayload(shown.text), files: await download(files) }
}

/** Returns the text as a user would copy it: HTML drops the first line break. */
function shownPayload(page: string): string {
  const [, attributes = '', inner = ''] = /<pre id="payload"([^>]*)>([\s\S]*?)<\/pre>/.exec(page) ?? []
  const exact = /data-exact="([^"]*)"/.exec(attributes)?.[1]
  if (exact !== undefined) return decodeURIComponent(exact)
  return unescapeHtml(inner.replace(/^\n/, '').replace(/<[^>]*>/g, ''))
}

function unescapeHtml(text: string): string {
  const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => signs[name] ?? '')
}

async function readByCommand(push: ExpectedPush, at: Started): Promise<Read> {
  const cwd = stage.folder()
  await Bun.write(join(cwd, 'passphrase'), push.passphrase ?? '')
  const secret = push.passphrase ? ['--passphrase-file', 'passphrase'] : []
  const got = await runBinary(['get', `${at.url}/p/${push.url_token}`, ...secret], { cwd })
  expect({ label: push.label, code: got.code }).toEqual({ label: push.label, code: 0 })
  const files = push.files.map(({ filename }) => described(filename, readFileSync(join(cwd, filename))))
  return { payload: got.stdout, files }
}
