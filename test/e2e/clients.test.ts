// A scenario for each known client: the requests that it sends, byte by byte where that matters, and the
// answers that it reads.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createStage, runBinary, type Started } from '../support/binary.ts'
import { sendRaw } from '../support/raw.ts'

const stage = createStage()
let server: Started
let token: string

beforeAll(async () => {
  server = await stage.start()
  await server.command(['user', 'add', 'ann@example.org', '--password-stdin'], 'long enough password')
  token = (await server.command(['token', 'create', 'ann@example.org'])).stdout.trim()
})
afterAll(stage.clear)

const legacy = () => ({ 'x-user-email': 'somebody@else.example', 'x-user-token': token })
const bearer = () => ({ authorization: `Bearer ${token}` })
const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends a request as these clients do: none follows a redirect. */
async function ask(path: string, init: RequestInit = {}) {
  const response = await server.ask(path, { redirect: 'manual', ...init })
  expect(response.status < 300 || response.status >= 400).toBe(true)
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) }
}

const post = (path: string, body: BodyInit, headers: Record<string, string>) =>
  ask(path, { method: 'POST', body, headers })

/** Builds a multipart body from its parts as they are on the wire. */
function parts(...lines: string[]): { body: string; type: string } {
  const body = lines.map((part) => `--frontier\r\n${part}\r\n`).join('')
  return { body: `${body}--frontier--\r\n`, type: 'multipart/form-data; boundary=frontier' }
}

const field = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`

describe('the Terraform provider', () => {
  const create = (...extra: string[]) =>
    parts(
      field('password[payload]', 'from terraform'),
      field('password[kind]', 'text'),
      field('password[deletable_by_viewer]', 'true'),
      field('password[account_id]', '12'),
      field('password[expire_after_days]', '3'),
      ...extra,
    )

  test('creates with multipart fields and files, reads html_url, destroys', async () => {
    const file =
      'Content-Disposition: form-data; name="password[files][]"; filename="key.pem"\r\nContent-Type: application/octet-stream\r\n\r\nPEM'
    const { body, type } = create(file)
    const created = await post('/p.json', body, { 'content-type': type, ...legacy() })
    expect(created).toMatchObject({ status: 201, body: { kind: 'text', expire_after_days: 3 } })
    expect(created.body.html_url).toStartWith(server.url)
    expect(created.body.files).toHaveLength(1)
    const destroyed = await ask(`/p/${created.body.url_token}.json`, { method: 'DELETE', headers: legacy() })
    expect(destroyed).toMatchObject({ status: 200, body: { expired: true, deleted: true } })
    const again = await ask(`/p/${created.body.url_token}.json`, { method: 'DELETE', headers: legacy() })
    expect(again.status).toBe(200)
  })

  test('creates without a token as well', async () => {
    const { body, type } = create()
    expect((await post('/p.json', body, { 'content-type': type })).status).toBe(201)
  })

  test('works with an endpoint that ends in a slash', async () => {
    const { body, type } = create()
    const { status, body: created } = await post('//p.json', body, { 'content-type': type })
    expect(status).toBe(201)
    expect((await ask(`//p/${created.url_token}.json`, { method: 'DELETE' })).status).toBe(200)
  })
})

describe('the PowerShell modules', () => {
  test('may send a JSON null with GET and DELETE', async () => {
    const { body } = await post(
      '/p.json',
      '{"password":{"payload":"x","deletable_by_viewer":true,"retrieval_step":false}}',
      json,
    )
    expect(body.html_url).toBe(`${server.url}/p/${body.url_token}`)
    for (const method of ['GET', 'DELETE']) {
      const request = `${method} /p/${body.url_token}.json HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnull`
      const { text, statuses } = await sendRaw(server.port, [request])
      expect(statuses).toEqual([200])
      expect(text).toContain(method === 'GET' ? '"payload":"x"' : '"deleted":true')
    }
  })

  test('put a language before the path, and find the members of log entries that they show', async () => {
    const { status, body } = await post(
      '/en/p.json',
      '{"password":{"payload":"x","note":"","expire_after_views":1}}',
      {
        ...json,
        ...legacy(),
      },
    )
    expect(status).toBe(201)
    await ask(`/p/${body.url_token}.json`)
    const log = await ask(`/p/${body.url_token}/audit.json`, { headers: legacy() })
    expect(log.body.views.map((row: { kind: string }) => row.kind)).toEqual(['creation', 'view'])
    expect(Object.keys(log.body.views[0])).toEqual([
      'ip',
      'user_agent',
      'referrer',
      'kind',
      'created_at',
      'updated_at',
      'successful',
    ])
    const dashboard = await ask('/p/expired.json', { headers: legacy() })
    expect(dashboard.body[0]).toMatchObject({ url_token: body.url_token, expired: true, days_remaining: 7 })
  })

  test('may send forms of Invoke-RestMethod, with True and False', async () => {
    const fields =
      'password%5Bpayload%5D=a+b%26c&password%5Bexpire_after_views%5D=1&password%5Bdeletable_by_viewer%5D=True&password%5Bretrieval_step%5D=False'
    const { status, body } = await post('/p.json', fields, form)
    expect([status, body.deletable_by_viewer, body.retrieval_step]).toEqual([201, true, false])
    expect((await ask(`/p/${body.url_token}.json`)).body.payload).toBe('a b&c')
  })

  test('upload with MIME-encoded and extended names, quoted or not', async () => {
    const { body, type } = parts(
      'Content-Disposition: form-data; name=file_push[files][]; filename="=?utf-8?B?w6kudHh0?="; filename*=utf-8\'\'%C3%A9.txt\r\nContent-Type: application/octet-stream\r\n\r\none',
      'Content-Disposition: form-data; name="file_push[files][]"; filename="=?utf-8?B?w6kudHh0?="\r\n\r\ntwo',
      'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name="file_push[payload]"\r\n\r\nnöte',
    )
    const created = await post('/f.json', body, { 'content-type': type, ...bearer() })
    expect(created.status).toBe(201)
    expect(created.body.files.map(({ filename }: { filename: string }) => filename)).toEqual([
      'é.txt',
      'é.txt',
    ])
    const retrieved = await ask(`/f/${created.body.url_token}.json`)
    expect(retrieved.body.payload).toBe('nöte')
    const contents = await Promise.all(
      retrieved.body.files.map(async ({ url }: { url: string }) => (await fetch(url)).text()),
    )
    expect(contents).toEqual(['one', 'two'])
  })
})

test('the Raycast extension: JSON, a Bearer token, html_url', async () => {
  const push = { password: { payload: 'pw', expire_after_days: 1, expire_after_views: 10 } }
  const headers = { ...json, accept: 'application/json', ...bearer() }
  const { status, body } = await post('/p.json', JSON.stringify(push), headers)
  expect([status, body.expire_after_views]).toEqual([201, 10])
  expect(body.html_url).toMatch(/\/p\/[0-9a-z]{26}\/r$/)
})

test('the PHP library requires exactly 201, 200 and 200', async () => {
  const push = { password: { payload: 'pw', expire_after_days: 2, note: 'n', deletable_by_viewer: true } }
  const created = await post('/p.json', JSON.stringify(push), { ...json, 'user-agent': 'GuzzleHttp/7' })
  expect(created.status).toBe(201)
  const got = await ask(`/p/${created.body.url_token}.json`)
  expect([got.status, got.body.payload]).toEqual([200, 'pw'])
  const deleted = await ask(`/p/${created.body.url_token}.json`, { method: 'DELETE' })
  expect([deleted.status, deleted.body.deleted]).toEqual([200, true])
})

test('the .NET tools: a form without escaping', async () => {
  const body =
    'password[payload]=pw é 100%&password[passphrase]=sesame&password[expire_after_days]=1&password[expire_after_views]=2&password[deletable_by_viewer]=False'
  const created = await post('/p.json', body, {
    ...form,
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
  })
  expect(created).toMatchObject({ status: 201, body: { passphrase: null, deletable_by_viewer: false } })
  expect((await ask(`/p/${created.body.url_token}.json`)).status).toBe(401)
  const got = await ask(`/p/${created.body.url_token}.json?passphrase=sesame`)
  expect([got.status, got.body.payload]).toEqual([200, 'pw é 100%'])
})

describe('curl lines in runbooks', () => {
  test('extract the link from json_url', async () => {
    const { body } = await post(
      '/p.json',
      'password[payload]=mypassword&password[expire_after_views]=10',
      form,
    )
    const link = `${body.json_url.replace(/\.json$/, '')}/r`
    expect(link).toBe(body.html_url)
    expect((await fetch(link)).status).toBe(200)
    expect((await ask(new URL(body.json_url).pathname)).body.payload).toBe('mypassword')
  })

  test('push a link to /r.json and files to /f.json', async () => {
    const url = await post('/r.json', 'url%5Bpayload%5D=https%3A%2F%2Fexample.org%2F%3Fa%3Db', form)
    expect(url.body).toMatchObject({ kind: 'url', deletable_by_viewer: null })
    const { body, type } = parts(
      'Content-Disposition: form-data; name="file_push[files][]"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nA',
      'Content-Disposition: form-data; name="file_push[files][]"; filename="b.txt"\r\nContent-Type: text/plain\r\n\r\nB',
      field('file_push[note]', 'For New Employee ID 12345'),
    )
    const files = await post('/f.json', body, { 'content-type': type, 'x-user-token': token })
    expect(files).toMatchObject({ status: 201, body: { kind: 'file', note: 'For New Employee ID 12345' } })
    expect((await post('/f.json', body, { 'content-type': type })).status).toBe(401)
  })
})

describe('the official command line', () => {
  test('asks the version, creates by an index of durations, reads the preview', async () => {
    expect((await ask('/api/v2/version', { headers: bearer() })).status).toBe(200)
    const push = { payload: 'x', kind: 'text', expire_after_duration: 6, expire_after_views: 2 }
    const both = { ...bearer(), 'x-user-email': 'ann@example.org', 'x-user-token': token }
    const created = await post('/api/v2/pushes', JSON.stringify({ push }), { ...json, ...both })
    expect(created).toMatchObject({ status: 201, body: { expire_after_days: 1 } })
    const preview = await ask(`/api/v2/pushes/${created.body.url_token}/preview`, { headers: both })
    expect(preview.body).toMatchObject({ url: created.body.html_url, expired: false })
    const log = await ask(`/api/v2/pushes/${created.body.url_token}/audit`, { headers: both })
    expect('views' in log.body).toBe(false)
    expect(log.body.logs).toHaveLength(1)
  })

  test('uploads with fields that are empty or booleans of Python', async () => {
    const { body, type } = parts(
      field('push[payload]', ''),
      field('push[kind]', 'file'),
      field('push[deletable_by_viewer]', 'True'),
      'Content-Disposition: form-data; name="push[files][]"; filename="data.txt"\r\n\r\ncontent',
    )
    const created = await post('/api/v2/pushes', body, { 'content-type': type, ...bearer() })
    expect(created).toMatchObject({ status: 201, body: { kind: 'file', deletable_by_viewer: true } })
  })

  test('tries the lists of both versions when it logs in', async () => {
    for (const path of ['/api/v2/pushes/active', '/p/active.json']) {
      expect((await ask(path, { headers: bearer() })).status).toBe(200)
      expect((await ask(path, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401)
    }
  })
})

test('the MCP server: the version first, files before fields, both versions', async () => {
  expect((await ask('/api/v2/version.json')).status).toBe(200)
  const { body, type } = parts(
    'Content-Disposition: form-data; name="file[files][]"; filename="r.pdf"\r\nContent-Type: application/pdf\r\n\r\nPDF',
    field('file[expire_after_views]', '3'),
    field('file[retrieval_step]', 'true'),
  )
  const previous = await post('/f.json', body, { 'content-type': type, ...legacy() })
  expect(previous).toMatchObject({ status: 201, body: { kind: 'file', expire_after_views: 3 } })
  const push = { payload: 'x', kind: 'text', expire_after_duration: 3, expire_after_views: 1 }
  const current = await post('/api/v2/pushes.json', JSON.stringify({ push }), json)
  expect(current.status).toBe(201)
  const { url_token } = current.body
  expect((await ask(`/api/v2/pushes/${url_token}/preview.json`)).status).toBe(200)
  expect((await ask(`/api/v2/pushes/${url_token}.json`, { method: 'DELETE' })).status).toBe(200)
})

test.each([{}, { authorization: 'Bearer wrong' }])(
  'the browser extension finds out with %p which features this edition lacks',
  async (headers: Record<string, string>) => {
    const version = await ask('/api/v2/version')
    expect(version.body.application_version.localeCompare('2.5.0', 'en', { numeric: true })).toBe(1)
    for (const path of ['/api/v2/accounts', '/api/v2/requests', '/api/v1/accounts']) {
      expect(await ask(path, { headers })).toMatchObject({ status: 404, body: { error: 'not-found' } })
    }
  },
)

describe('every client can read the pushes of every other', () => {
  const payload = 'öne\r\ntwo '
  const env = () => ({ ONCEBOX_SERVER: server.url, ONCEBOX_TOKEN: token, XDG_CONFIG_HOME: '/nonexistent' })
  const writers: Record<string, () => Promise<string>> = {
    'version 1': async () =>
      (await post('/p.json', JSON.stringify({ password: { payload } }), json)).body.url_token,
    'version 2': async () =>
      (await post('/api/v2/pushes', JSON.stringify({ push: { payload } }), json)).body.url_token,
    'the command line': async () => {
      const { stdout } = await runBinary(['push'], { input: payload, env: env() })
      return /\/p\/(\w+)/.exec(stdout)?.[1] ?? stdout
    },
  }
  const readers: Record<string, (urlToken: string) => Promise<string>> = {
    'version 1': async (urlToken) => (await ask(`/p/${urlToken}.json`)).body.payload,
    'version 2': async (urlToken) => (await ask(`/api/v2/pushes/${urlToken}`)).body.payload,
    'the command line': async (urlToken) =>
      (await runBinary(['get', `${server.url}/p/${urlToken}/r`], { env: env() })).stdout,
  }
  const pairs = Object.keys(writers).flatMap((writer) =>
    Object.keys(readers).map((reader) => [writer, reader]),
  )

  test.each(pairs)('from %s to %s', async (writer, reader) => {
    expect(await readers[reader!]!(await writers[writer!]!())).toBe(payload)
  })

  test('files and a passphrase from the command line are read through the API, and vice versa', async () => {
    const folder = stage.folder()
    await Bun.write(`${folder}/pass`, 'sesame\n')
    await Bun.write(`${folder}/data.bin`, Buffer.alloc(3_000_000, 7))
    const flags = ['--file', `${folder}/data.bin`, '--passphrase-file', `${folder}/pass`, '--json']
    const pushed = await runBinary(['push', ...flags], { env: env() })
    expect(pushed.code).toBe(0)
    const { url_token, html_url } = JSON.parse(pushed.stdout)
    const headers = { 'x-push-passphrase': 'sesame' }
    const { files } = (await ask(`/api/v2/pushes/${url_token}`, { headers })).body
    expect((await (await fetch(files[0].url)).bytes()).length).toBe(3_000_000)
    const args = ['get', html_url, '--passphrase-file', `${folder}/pass`, '--output', `${folder}/back.bin`]
    expect(await runBinary(args, { env: env() })).toMatchObject({ code: 0, stdout: '' })
    expect(await Bun.file(`${folder}/back.bin`).bytes()).toEqual(await Bun.file(`${folder}/data.bin`).bytes())
  })

  test.each(['a%22b.txt', 'a"b.txt', '100%.txt', "it's (1)*.txt", 'blank é 🐴.txt'])(
    'a file named %p keeps its name',
    async (name) => {
      const folder = stage.folder()
      await Bun.write(`${folder}/${name}`, 'inside')
      const pushed = await runBinary(['push', '--file', `${folder}/${name}`, '--json'], { env: env() })
      const [file] = JSON.parse(pushed.stdout).files
      expect(file.filename).toBe(name)
    },
  )
})
