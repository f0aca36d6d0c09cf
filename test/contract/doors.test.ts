// Admission: host names, proxies, rate limits; and the log of requests.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { createFailingStore } from '../support/failing-store.ts'
import { BOUNDARY, multipart } from './multipart.ts'

let api: Api

afterEach(() => api.close())

test('links start with the name that was asked for, or with the base URL, path included', async () => {
  api = await startApi()
  const push = await api.create({}, { headers: { host: 'nas:5100' } })
  expect(push.html_url).toBe(`http://nas:5100/p/${push.url_token}/r`)
  expect(push.json_url).toBe(`http://nas:5100/p/${push.url_token}.json`)
  await api.close()
  api = await startApi({ flags: { 'base-url': 'https://once.example/box' } })
  for (const path of [PUSHES, `/box${PUSHES}`]) {
    const { body } = await api.call<{ html_url: string }>(path, {
      json: { push: { payload: 'x', retrieval_step: false } },
      headers: { host: 'once.example' },
    })
    expect(body.html_url).toMatch(/^https:\/\/once\.example\/box\/p\/\w{26}$/)
  }
})

test('an unknown host gets 421 with the flag to set, and may still ask for the version', async () => {
  api = await startApi()
  const headers = { host: 'evil.example' }
  const { status, text } = await api.call(`${PUSHES}/active`, { headers })
  expect(status).toBe(421)
  expect(text).toContain('--base-url')
  expect((await api.call('/api/v2/version', { headers })).status).toBe(200)
})

test('the page that refuses a name has its style sheet and icons, and no links that are refused again', async () => {
  api = await startApi()
  const headers = { host: 'nas.example', accept: 'text/html' }
  const { status, text } = await api.call('/', { headers })
  expect(status).toBe(421)
  const assets = [...text.matchAll(/(?:href|src)="(\/assets\/[^"#]+)/g)].map(([, path]) => path ?? '')
  expect(assets.some((path) => path.endsWith('.css'))).toBe(true)
  for (const path of assets) expect((await api.call(path, { headers })).status).toBe(200)
  expect(text).not.toContain('<nav')
  expect(text).toContain('<h1>This server does not know this name</h1>')
})

test('forwarding headers count only from a trusted proxy', async () => {
  api = await startApi({ flags: { 'trusted-proxy': '10.0.0.0/8' } })
  const token = await api.addAccount('ann@example.org')
  const headers = {
    'x-forwarded-for': '198.51.100.4',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'pi.local',
  }
  const trusted = await api.create({}, { token, headers, from: '10.1.2.3' })
  expect(trusted.html_url).toStartWith('https://pi.local/p/')
  expect((await api.audit(trusted.url_token, token))[0]?.ip).toBe('198.51.100.4')
  const stranger = await api.create({}, { token, headers, from: '192.0.2.66' })
  expect(stranger.html_url).toStartWith('http://localhost/p/')
  expect((await api.audit(stranger.url_token, token))[0]?.ip).toBe('192.0.2.66')
})

test('too many requests from one address get 429 with Retry-After; loopback and the version are exempt', async () => {
  api = await startApi({ rateLimit: { requests: 3, seconds: 10 } })
  const ask = (from: string, path = `${PUSHES}/x`) => api.call(path, { from })
  for (let i = 0; i < 3; i += 1) expect((await ask('192.0.2.1')).status).toBe(404)
  const refused = await ask('192.0.2.1')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
  expect((await ask('192.0.2.1', '/api/v2/version')).status).toBe(200)
  expect((await ask('192.0.2.2')).status).toBe(404)
  for (const from of ['2001:db8::1', '2001:db8::2', '2001:db8::3']) expect((await ask(from)).status).toBe(404)
  expect((await ask('2001:db8::4')).status).toBe(429)
  for (let i = 0; i < 9; i += 1) expect((await ask('127.0.0.1')).status).toBe(404)
})

test.each(['text', 'json'])(
  'the log in %s has one line a request: method, pattern, status, duration, id',
  async (format) => {
    api = await startApi({ flags: { 'log-format': format } })
    const { url_token } = await api.create({ payload: 'PLANTED-payload' })
    const before = api.log.length
    const answer = await api.retrieve(`${url_token}?passphrase=PLANTED-query`)
    expect(api.log).toHaveLength(before + 1)
    const line = api.log.at(-1) ?? ''
    const id = answer.headers.get('x-request-id') ?? ''
    for (const part of ['GET', '/api/v2/pushes/:url_token', '200', id]) expect(line).toContain(part)
    if (format === 'json') {
      expect(JSON.parse(line)).toMatchObject({
        method: 'GET',
        status: 200,
        requestId: id,
        durationMs: expect.any(Number),
      })
    }
    await api.call(`/api/v2/PLANTED-path/${url_token}`)
    expect(api.log.join('\n')).not.toMatch(new RegExp(`PLANTED|${url_token}`))
  },
)

test('the log leaves out successful health checks', async () => {
  api = await startApi()
  const before = api.log.length
  for (const path of ['/up', '/readyz']) expect((await api.fetch(path)).status).toBe(200)
  expect(api.log).toHaveLength(before)
  expect((await api.fetch('/up?x', { method: 'POST' })).status).toBe(405)
  expect(api.log).toHaveLength(before + 1)
})

test('an internal error answers with the request id alone; the log has the cause', async () => {
  api = await startApi()
  const { url_token } = await api.create()
  const database = new Database(join(api.dataDir, 'oncebox.db'))
  database.run("UPDATE push_secrets SET payload = x'00'")
  database.close()
  const { status, body, headers } = await api.retrieve(url_token)
  const id = headers.get('x-request-id') ?? ''
  expect(status).toBe(500)
  expect<unknown>(body).toEqual({ error: 'internal-error', request_id: id })
  expect(api.log.join('\n')).toContain('push 1 is not as it was written')
  expect(api.entries().map(({ kind }) => kind)).toEqual(['creation'])
})

test.each([
  ['EMFILE', 'LimitNOFILE'],
  ['ENFILE', 'fs.file-max'],
  ['ENOMEM', 'no memory'],
])(
  'when the system runs out of resources (%s) the server answers 503, and the log names the limit to raise',
  async (code, remedy) => {
    const store = createFailingStore()
    api = await startApi({ interpose: store.interpose })
    const token = await api.addAccount('ann@example.org')
    const files = [{ filename: 'a.txt', data: 'eA==' }]
    const { url_token } = await api.create({ payload: 'x', files, expire_after_views: 3 }, { token })
    const { body } = await api.retrieve(url_token)
    const { pathname } = new URL((body.files as { url: string }[])[0]?.url ?? '')
    store.failWith((operation) =>
      operation.startsWith('files.')
        ? Object.assign(new Error(`${code}: no more, open '/x'`), { code })
        : null,
    )
    const form = multipart([{ name: 'push[files][]', content: 'y', disposition: 'filename="b.txt"' }])
    const asForm = {
      body: form,
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      token,
    }
    const answers = [
      await api.call(pathname),
      await api.call(PUSHES, asForm),
      await api.call(PUSHES, { json: { push: { files } }, token }),
    ]
    for (const { status, headers, text } of answers) {
      expect([status, headers.get('retry-after'), text]).toEqual([
        503,
        '5',
        expect.not.stringContaining(code),
      ])
    }
    expect(
      api.log.filter((line) => line.includes(`a request failed: `) && line.includes(remedy)),
    ).toHaveLength(3)
    expect(api.log.join('\n')).toContain(`${code}: no more`)
    store.heal()
    expect([(await api.call(pathname)).status, (await api.call(PUSHES, asForm)).status]).toEqual([200, 201])
  },
)
