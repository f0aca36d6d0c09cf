// Cross-site requests from a browser are refused before anything is stored or counted, unless the site is
// listed.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import type { Init } from '../support/instance.ts'

const APP = 'https://app.example'
const FORM = 'application/x-www-form-urlencoded'

type Sent = Record<string, string>

const OTHER_SITES: [string, Sent][] = [
  ['another site', { origin: 'https://evil.example' }],
  ['another port', { origin: 'http://localhost:8080' }],
  ['another scheme', { origin: 'https://localhost' }],
  ['another name of the machine', { origin: 'http://127.0.0.1' }],
  ['a document without an origin', { origin: 'null' }],
  ['an overlong origin', { origin: `https://${'a'.repeat(293)}` }],
  ['an extension with an overlong origin', { origin: `moz-extension://${'a'.repeat(15_000)}` }],
  [
    'another site with contradicting Sec-Fetch headers',
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' },
  ],
  ['an image of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'image' }],
  [
    'a frame of another site',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  ],
  ['an image of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'image' }],
]

const PEOPLE: [string, Sent][] = [
  ['a client without an Origin header', {}],
  ['a page of this server', { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }],
  ['an extension', { origin: 'chrome-extension://abcdefgh', 'sec-fetch-site': 'cross-site' }],
  ['another extension', { origin: 'moz-extension://c0ffee', 'sec-fetch-site': 'cross-site' }],
  ['a typed URL', { 'sec-fetch-site': 'none', 'sec-fetch-dest': 'document' }],
]

const LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** Requests that create a push: both versions of the API, and the pages. */
const CREATES: [string, Init][] = [
  [PUSHES, { json: { push: { payload: 'x' } } }],
  [PUSHES, { body: 'push[payload]=x', headers: { 'content-type': FORM } }],
  ['/p.json', { body: 'password[payload]=x', headers: { 'content-type': FORM } }],
  ['/p.json', { body: '{"password":{"payload":"x"}}', headers: { 'content-type': 'text/plain' } }],
  ['/', { body: 'push[payload]=x', headers: { 'content-type': FORM } }],
]

describe('without --cors-origins', () => {
  let api: Api

  beforeAll(async () => {
    api = await startApi({ rateLimit: { requests: 10_000, seconds: 10 } })
  })
  afterAll(() => api.close())

  const withHeaders = (init: Init, headers: Sent): Init => ({
    ...init,
    headers: { ...(init.headers as Sent), ...headers },
  })

  test.each(OTHER_SITES)('%s cannot create a push', async (_name, headers) => {
    const before = api.entries().length
    for (const [path, init] of CREATES) {
      const { status, text } = await api.call(path, withHeaders(init, headers))
      expect({ path, status }).toEqual({ path, status: 403 })
      if (path !== '/') expect(JSON.parse(text).error).toContain('--cors-origins')
    }
    expect(api.entries()).toHaveLength(before)
  })

  test.each(OTHER_SITES)(
    '%s cannot use up a view, expire a push or guess a passphrase',
    async (_name, headers) => {
      const { url_token } = await api.create({ passphrase: 'open' })
      const wrong = '?passphrase=wrong'
      const answers = [
        await api.retrieve(url_token, { headers }),
        await api.retrieve(`${url_token}${wrong}`, { headers }),
        await api.expire(url_token, { headers }),
        await api.call(`/p/${url_token}.json${wrong}`, { headers }),
        await api.call(`/p/${url_token}`, {
          method: 'POST',
          body: 'nonce=x',
          headers: { 'content-type': FORM, ...headers },
        }),
        await api.call('/api/v2/version', { headers }),
        await api.call('/api/v2/nothing', { headers }),
        await api.call(`/d/${url_token}`, { headers }),
      ]
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]))
      expect(api.entries().at(-1)?.kind).toBe('creation')
    },
  )

  test.each(PEOPLE)('%s may create and retrieve', async (_name, headers) => {
    const { url_token } = await api.create({}, { headers })
    expect((await api.retrieve(url_token, { headers })).body.payload).toBe('correct horse')
  })

  test('a link on another site works, a cross-site form does not', async () => {
    const { url_token } = await api.create()
    expect((await api.call(`/p/${url_token}`, { headers: LINK })).status).toBe(200)
    expect((await api.call(`/p/${url_token}`, { method: 'HEAD', headers: LINK })).status).toBe(200)
    expect((await api.retrieve(url_token, { headers: LINK })).status).toBe(200)
    for (const [path, init] of CREATES)
      expect((await api.call(path, withHeaders(init, LINK))).status).toBe(403)
    expect((await api.expire(url_token, { headers: LINK })).status).toBe(403)
  })

  test('a page refuses in the language of the viewer', async () => {
    const headers = { origin: 'https://evil.example', 'accept-language': 'de' }
    const { status, text } = await api.call('/sign-in', { method: 'POST', body: 'x', headers })
    expect(status).toBe(403)
    expect(text).toContain('einer anderen Website')
  })

  test.each([
    ['sec-purpose', 'prefetch'],
    ['sec-purpose', 'prefetch;prerender'],
    ['purpose', 'prefetch'],
    ['x-moz', 'prefetch'],
  ])('a prefetch (%s: %s) retrieves nothing', async (name, value) => {
    const { url_token } = await api.create({ passphrase: 'open' })
    const headers = { [name]: value, 'sec-fetch-site': 'none' }
    for (const path of [
      `${PUSHES}/${url_token}`,
      `/p/${url_token}.json`,
      `/f/${url_token}.json?passphrase=x`,
    ])
      expect((await api.call(path, { headers })).status).toBe(403)
    expect((await api.call(`/p/${url_token}`, { headers })).status).toBe(200)
    expect((await api.call(`${PUSHES}/${url_token}/preview`, { headers })).status).toBe(200)
    expect(api.entries().at(-1)?.kind).toBe('creation')
  })

  test('a preflight of another site gets no CORS headers', async () => {
    const headers = { origin: APP, 'access-control-request-method': 'POST' }
    const response = await api.fetch(PUSHES, { method: 'OPTIONS', headers })
    expect(response.status).toBe(403)
    expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect((await api.fetch(PUSHES, { method: 'OPTIONS' })).status).toBe(405)
  })
})

test.each(['192.0.2.1', '127.0.0.1'])(
  'refused cross-site requests do not count against the rate limits of the viewer: %s',
  async (from) => {
    const api = await startApi({ rateLimit: { requests: 2, seconds: 10 } })
    const headers = { origin: 'https://evil.example' }
    const statuses: number[] = []
    for (const path of ['/up', '/up', '/up', '/api/v2/version'])
      statuses.push((await api.call(path, { headers, from })).status)
    expect(statuses).toEqual([403, 403, 429, 403])
    expect((await api.call('/up', { from })).status).toBe(200)
    await api.close()
  },
)

describe('the origin of this server', () => {
  const open = (api: Api, headers: Sent, from = '192.0.2.1') =>
    api.call(PUSHES, { json: { push: { payload: 'x' } }, headers, from }).then(({ status }) => status)

  test('is the forwarded host behind a trusted proxy', async () => {
    const api = await startApi({ flags: { 'trusted-proxy': '10.0.0.1' } })
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'nas:8443' }
    expect(await open(api, { ...proxied, origin: 'https://nas:8443' }, '10.0.0.1')).toBe(201)
    expect(await open(api, { ...proxied, origin: 'http://nas:8443' }, '10.0.0.1')).toBe(403)
    expect(await open(api, { ...proxied, origin: 'https://nas' }, '10.0.0.1')).toBe(403)
    expect(await open(api, { ...proxied, origin: 'https://nas:8443' })).toBe(403)
    expect(
      await open(api, { ...proxied, 'x-forwarded-host': 'nas:443', origin: 'https://nas' }, '10.0.0.1'),
    ).toBe(201)
    await api.close()
  })

  test('is the origin of the base URL, without its path', async () => {
    const api = await startApi({ flags: { 'base-url': 'https://once.example/box' } })
    expect(await open(api, { host: 'once.example', origin: 'https://once.example' })).toBe(201)
    expect(await open(api, { host: '127.0.0.1:5100', origin: 'https://once.example' })).toBe(201)
    expect(await open(api, { host: 'localhost:5100', origin: 'http://localhost:5100' })).toBe(201)
    expect(await open(api, { host: 'once.example', origin: 'http://once.example' })).toBe(403)
    expect(await open(api, { host: 'once.example', origin: 'https://once.example:8443' })).toBe(403)
    await api.close()
  })
})

describe('on loopback', () => {
  test('a server on loopback answers only to loopback names, except from a trusted proxy', async () => {
    const api = await startApi({ flags: { host: 'localhost', 'trusted-proxy': '::1' } })
    const ask = async (host: string, from: string, path = `${PUSHES}/active`) =>
      (await api.call(path, { headers: { host }, from })).status
    for (const host of ['localhost:5100', '127.0.0.1:5100', '[::1]:5100', 'box.localhost'])
      expect({ host, status: await ask(host, '127.0.0.1') }).toEqual({ host, status: 401 })
    for (const host of ['nas', 'rebound', 'evil.local', '192.168.1.7', '0.0.0.0:5100']) {
      expect({ host, status: await ask(host, '127.0.0.1') }).toEqual({ host, status: 421 })
      expect({ host, status: await ask(host, '::1') }).toEqual({ host, status: 401 })
    }
    for (const path of ['/up', '/api/v2/version', '/api/v1/version.json'])
      expect({ path, status: await ask('rebound.example', '127.0.0.1', path) }).toEqual({ path, status: 200 })
    expect(await ask('rebound.example', '127.0.0.1', '/readyz')).not.toBe(421)
    await api.close()
  })
})

describe('with --cors-origins', () => {
  let api: Api

  beforeAll(async () => {
    api = await startApi({
      flags: { 'cors-origins': `${APP},http://localhost:3000` },
      rateLimit: { requests: 3, seconds: 10 },
    })
  })
  afterAll(() => api.close())

  let client = 0
  /** Each request comes from another address, so that no rate limit adds them up. */
  const ask = (path: string, init: Init = {}) => {
    client += 1
    return api.fetch(path, { from: `198.51.100.${client}`, ...init })
  }
  const corsOf = ({ headers }: Response) => ({
    origin: headers.get('access-control-allow-origin'),
    credentials: headers.get('access-control-allow-credentials'),
    vary: headers.get('vary'),
  })
  const LISTED = { origin: APP, credentials: null, vary: 'Origin' }

  test.each([
    ...[
      '/api/v2/pushes',
      '/api/v2/pushes/x.json',
      '/api/v2/nothing',
      '/api/v2/version',
      '/api/v1/version.json',
    ],
    ...['/p.json', '/f.json', '/p/x.json', '/de/p/x/preview.json', '/d/x'],
  ])('a preflight for %s is allowed', async (path) => {
    const headers = {
      origin: APP,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization,content-type,x-push-passphrase',
      'access-control-request-private-network': 'true',
    }
    const response = await ask(path, { method: 'OPTIONS', headers })
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(corsOf(response)).toEqual(LISTED)
    const allowed = (name: string) => (response.headers.get(name) ?? '').toLowerCase().split(', ')
    expect(allowed('access-control-allow-methods').sort()).toEqual(['delete', 'get', 'head', 'patch', 'post'])
    expect(allowed('access-control-allow-headers')).toEqual(
      expect.arrayContaining([
        'authorization',
        'content-type',
        'x-push-passphrase',
        'x-user-token',
        'idempotency-key',
      ]),
    )
    expect(response.headers.get('access-control-allow-private-network')).toBe('true')
  })

  test('pages of listed origins create, read and download', async () => {
    const headers = { origin: APP, 'sec-fetch-site': 'cross-site' }
    const token = await api.addAccount('ann@example.org')
    const file = { filename: 'a.txt', data: btoa('hello') }
    const created = await ask(PUSHES, { json: { push: { files: [file] } }, token, headers })
    expect([created.status, corsOf(created)]).toEqual([201, LISTED])
    const { url_token } = await created.json()
    const retrieved = await ask(`${PUSHES}/${url_token}`, { headers })
    expect(corsOf(retrieved)).toEqual(LISTED)
    const { files } = await retrieved.json()
    const download = await ask(new URL(files[0].url).pathname, {
      headers: { ...headers, range: 'bytes=1-2' },
    })
    expect([download.status, await download.text(), corsOf(download)]).toEqual([206, 'el', LISTED])
    const exposed = download.headers.get('access-control-expose-headers')?.split(', ') ?? []
    for (const name of ['Content-Disposition', 'Content-Range', 'X-File-Size', 'Retry-After', 'X-Request-Id'])
      expect(exposed).toContain(name)
    const form = { ...headers, 'content-type': FORM }
    const previous = await ask('/p.json', { body: 'password[payload]=x', headers: form })
    expect([previous.status, corsOf(previous)]).toEqual([201, LISTED])
  })

  test('a listed origin can read every refusal', async () => {
    const headers = { origin: APP }
    const refused: [number, string, Init][] = [
      [400, PUSHES, { body: '{', headers: { ...headers, 'content-type': 'application/json' } }],
      [401, `${PUSHES}/active`, { headers }],
      [403, `${PUSHES}/x`, { headers: { 'sec-purpose': 'prefetch', ...headers } }],
      [404, `${PUSHES}/x`, { headers }],
      [404, '/api/v2/nothing', { headers }],
      [405, '/api/v2/version', { method: 'DELETE', headers }],
      [421, `${PUSHES}/x`, { headers: { host: 'evil.example', ...headers } }],
      [422, PUSHES, { json: { push: { payload: '' } }, headers }],
    ]
    for (const [status, path, init] of refused) {
      const response = await ask(path, init)
      expect([response.status, corsOf(response)]).toEqual([status, LISTED])
    }
    const from = '203.0.113.1'
    for (let n = 0; n < 3; n += 1) await ask(`${PUSHES}/x`, { from, headers })
    const limited = await ask(`${PUSHES}/x`, { from, headers })
    expect([limited.status, corsOf(limited)]).toEqual([429, LISTED])
    const preflight = {
      method: 'OPTIONS',
      from,
      headers: { ...headers, 'access-control-request-method': 'POST' },
    }
    expect((await ask(PUSHES, preflight)).status).toBe(204)
  })

  test('unlisted origins are refused without CORS headers', async () => {
    for (const origin of ['https://evil.example', 'http://app.example', `${APP}:8443`, 'null']) {
      const response = await ask(PUSHES, { json: { push: { payload: 'x' } }, headers: { origin } })
      expect([response.status, corsOf(response)]).toEqual([
        403,
        { origin: null, credentials: null, vary: 'Origin' },
      ])
    }
    expect(corsOf(await ask(`${PUSHES}/x`))).toEqual({ origin: null, credentials: null, vary: 'Origin' })
  })

  test('CORS never covers the pages, not even for listed origins', async () => {
    const headers = { origin: APP, 'content-type': FORM }
    for (const path of ['/', '/sign-in', '/sign-up', '/p/x']) {
      const response = await ask(path, { method: 'POST', body: 'x=y', headers })
      expect([path, response.status, corsOf(response).origin]).toEqual([path, 403, null])
    }
    const preflight = { origin: APP, 'access-control-request-method': 'POST' }
    expect((await ask('/sign-in', { method: 'OPTIONS', headers: preflight })).status).toBe(403)
  })
})

test('with * any site may use the API without credentials, but not the pages', async () => {
  const api = await startApi({ flags: { 'cors-origins': '*' } })
  for (const origin of ['https://any.example', 'null']) {
    const response = await api.fetch('/p.json', {
      body: 'password[payload]=x',
      headers: { origin, 'content-type': FORM },
    })
    expect(response.status).toBe(201)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    const page = await api.fetch('/', { body: 'push[payload]=x', headers: { origin, 'content-type': FORM } })
    expect(page.status).toBe(403)
  }
  await api.close()
})
