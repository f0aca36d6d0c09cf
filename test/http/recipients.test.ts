// The listener for recipients: which URLs it serves, what it ignores, and the links that use it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  API,
  type Endpoint,
  FILES,
  MOVED,
  PAGES,
  PREVIOUS_API,
  PREVIOUS_FAMILIES,
} from '../../src/http/urls.ts'
import { type Api, PUSHES, type PushBody, startApi, type Wire } from '../support/api.ts'
import { configOf, type Init } from '../support/instance.ts'
import { startMailServer } from '../support/mail-server.ts'
import { formOf } from '../support/page-facts.ts'
import { createPeople, type Person } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

const { p, f, r } = PREVIOUS_FAMILIES
const ALL: readonly Endpoint[] = [API, PREVIOUS_API, p, f, r, PAGES, FILES]
  .flatMap((table) => Object.values<Endpoint>(table))
  .concat(MOVED)

const KNOWN = new Set([
  ...['GET /p/:url_token', 'POST /p/:url_token', 'GET /p/:url_token/r', 'POST /p/:url_token/expire'],
  ...['GET /q/:url_token', 'POST /q/:url_token', 'GET /d/:grant', 'GET /assets/:name', 'GET /favicon.ico'],
  ...['GET /apple-touch-icon.png', 'GET /manifest.webmanifest', 'GET /robots.txt', 'GET /up'],
  ...['GET /api/v2/pushes/:url_token', 'GET /api/v2/pushes/:url_token/preview'],
  ...['DELETE /api/v2/pushes/:url_token', 'POST /api/oncebox/requests/:url_token/answers'],
  ...['/f', '/r', '/:locale/p', '/:locale/f', '/:locale/r'].flatMap((family) =>
    ['', '/r', '/passphrase']
      .map((suffix) => `GET ${family}/:url_token${suffix}`)
      .filter((name) => name !== 'GET /:locale/p/:url_token/passphrase'),
  ),
  'GET /:locale/p/:url_token/passphrase',
])

const nameOf = ({ method, path }: Endpoint) => `${method} ${path}`
const HOST = 'open.example'
const OUTSIDE = `https://${HOST}`
const FLAGS = {
  'receive-listen': '127.0.0.1:5200',
  'receive-url': `${OUTSIDE}/box`,
  'trusted-proxy': '127.0.0.1',
  'cors-origins': 'https://app.example',
  ...{ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org', 'base-url': 'http://localhost' },
}

let api: Api
let token = ''
let ann: Person
beforeAll(async () => {
  api = await startApi({ flags: FLAGS })
  token = await api.addAccount('ann@example.org', { isAdmin: true })
  ann = await createPeople(api).signIn('ann@example.org')
})
afterAll(() => api.close())

const outside = (path: string, init: Init = {}) =>
  api.fetchOutside(path, { ...init, headers: { host: HOST, ...init.headers } })

describe('of the map of URLs', () => {
  let push: PushBody
  let request = ''
  beforeAll(async () => {
    push = await api.create({ expire_after_views: 100 }, { token })
    const asked = await api.call('/api/oncebox/requests', { token, json: { request: {} } })
    request = String(asked.body.url_token)
  })

  const pathOf = ({ path }: Endpoint) =>
    path
      .replace(':locale', 'en')
      .replace(':id', '7')
      .replace(':url_token', /\/q\/|requests\//.test(path) ? request : push.url_token)
      .replace(/:\w+/, 'x')

  test.each(ALL.map((url) => [nameOf(url), url] as const).filter(([name]) => !KNOWN.has(name)))(
    '%s does not exist, whatever the caller presents',
    async (_name, url) => {
      const { method } = url
      const session = { cookie: ann.cookie }
      for (const headers of [
        {},
        { authorization: `Bearer ${token}` },
        session,
        { 'remote-email': 'ann@example.org' },
      ]) {
        const body = method === 'GET' ? {} : { body: 'x=1' }
        const answer = await outside(pathOf(url), { method, ...body, headers: { ...headers } })
        expect(answer.status).toBe(404)
        expect(answer.headers.get('allow')).toBeNull()
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
    },
  )

  test.each(ALL.map((url) => [nameOf(url), url] as const).filter(([name]) => KNOWN.has(name)))(
    '%s exists',
    async (name, url) => {
      push = await api.create({}, { token })
      const isJson = name.includes('/answers')
      const body = isJson ? { json: { push: { payload: 'x' } } } : { body: 'x=1' }
      const init = url.method === 'GET' ? {} : { method: url.method, ...body }
      const { status } = await outside(pathOf(url), init)
      // The parameters of these paths name nothing that exists.
      const isMissing = /:grant|:name/.test(url.path)
      expect([403, 404].includes(status)).toBe(isMissing)
    },
  )

  test('the list above names nothing that is not in the map', () => {
    const names = new Set(ALL.map(nameOf))
    expect([...KNOWN].filter((name) => !names.has(name))).toEqual([])
  })

  test.each(['/f/new', '/p/new', '/api/v2/pushes/active', '/en/f/new', '/api/v2/pushes', '/docs', '/box/'])(
    '%s is not taken for the link of a push',
    async (path) => {
      expect((await outside(path)).status).toBe(404)
    },
  )

  test.each(['PUT', 'PATCH', 'OPTIONS'])('%s of a link is 404 and not 405', async (method) => {
    expect((await outside(`/p/${push.url_token}`, { method })).status).toBe(404)
    expect((await outside(`${PUSHES}/${push.url_token}`, { method })).status).toBe(404)
  })
})

test('a program can read there what a request asks for', async () => {
  const asked = await api.call('/api/oncebox/requests', { token, json: { request: { accept: ['text'] } } })
  const answer = await outside(`/q/${asked.body.url_token}`, { headers: { accept: 'application/json' } })
  expect(await answer.json()).toMatchObject({ accept: ['text'], recipient: null })
})

test('an owner who opens a secret link there uses up a view, with a token and with a session', async () => {
  const push = await api.create({ expire_after_views: 5 }, { token })
  const byToken = await outside(`${PUSHES}/${push.url_token}`, { token })
  expect(((await byToken.json()) as Wire).views_remaining).toBe(4)
  const page = await (await outside(`/p/${push.url_token}/r`, { headers: { cookie: ann.cookie } })).text()
  const { action, controls } = formOf(page, `/box/p/${push.url_token}`)
  const body = new URLSearchParams(controls.map(({ name, value }) => [name, value]))
  const shown = await outside(action, { method: 'POST', body, headers: { cookie: ann.cookie } })
  expect(await shown.text()).toContain('correct horse')
  const kinds = (await api.audit(push.url_token, token)).map(({ kind }) => kind)
  expect(kinds).toEqual(['creation', 'view', 'view'])
})

test('an invalid token is not refused there, because no token is read', async () => {
  const push = await api.create({}, { token })
  const wrong = { authorization: 'Bearer obx_wrong', 'x-user-token': 'wrong' }
  expect((await outside(`${PUSHES}/${push.url_token}`, { headers: wrong })).status).toBe(200)
})

test('pages there have no links to sign in, to share or to the list', async () => {
  const push = await api.create({}, { token })
  for (const path of [`/p/${push.url_token}`, '/pushes', '/p/0123456789abcdefghjkmnpqrs']) {
    const page = await (await outside(path, { headers: { cookie: ann.cookie } })).text()
    const targets = [...page.matchAll(/(?:href|src|action)="([^"#]+)/g)].map(([, target]) => target ?? '')
    expect(targets.filter((target) => !/^\/box\/(?:assets\/|p\/|favicon|pushes$)/.test(target))).toEqual([])
    expect(page).not.toContain('<nav')
  }
})

test('links, JSON links and download links start with the URL for recipients everywhere', async () => {
  const files = [{ filename: 'a.txt', data: btoa('hello') }]
  const push = await api.create({ files }, { token })
  const start = `${OUTSIDE}/box`
  expect(push.html_url).toBe(`${start}/p/${push.url_token}/r`)
  expect(push.json_url).toBe(`${start}/p/${push.url_token}.json`)
  const preview = await api.call(`${PUSHES}/${push.url_token}/preview`)
  expect(preview.body.url).toBe(push.html_url)
  const [file] = (await api.retrieve(push.url_token)).body.files as { url: string }[]
  expect(file?.url).toStartWith(`${start}/d/`)
  expect(await (await outside(new URL(String(file?.url)).pathname)).text()).toBe('hello')
  const asked = await api.call('/api/oncebox/requests', { token, json: { request: {} } })
  expect(asked.body.html_url).toBe(`${start}/q/${asked.body.url_token}`)
  for (const path of [`/p/${push.url_token}/preview`, `/pushes/${push.url_token}`])
    expect((await ann.get(path)).text).toContain(push.html_url)
  expect((await ann.get(`/requests/${asked.body.url_token}`)).text).toContain(String(asked.body.html_url))
})

test('only the host name of the URL for recipients is accepted there, not loopback', async () => {
  const { url_token } = await api.create()
  const ask = (host: string) => api.fetchOutside(`/p/${url_token}`, { headers: { host }, from: '127.0.0.1' })
  expect((await ask(HOST)).status).toBe(200)
  for (const host of ['localhost', '127.0.0.1:5200', 'nas', 'pi.local', '192.0.2.7', 'evil.example']) {
    const refused = await ask(host)
    expect(refused.status).toBe(421)
    expect(await refused.text()).toContain('--receive-url https://')
  }
  expect((await api.fetchOutside('/up', { headers: { host: 'nas' } })).status).toBe(200)
})

test('pages of listed origins and of the first listener count as other sites there', async () => {
  const { url_token } = await api.create({ expire_after_views: 5 })
  const ask = (origin: string, method = 'GET') => {
    const preflight = { 'access-control-request-method': 'GET' }
    const headers = { origin, host: HOST, ...(method === 'OPTIONS' && preflight) }
    return outside(`${PUSHES}/${url_token}`, { method, headers })
  }
  for (const origin of ['https://app.example', 'http://localhost', 'http://open.example']) {
    expect((await ask(origin)).status).toBe(403)
    const preflight = await ask(origin, 'OPTIONS')
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  }
  expect((await ask(OUTSIDE)).status).toBe(200)
})

test('loopback is limited there like any other address', async () => {
  const limited = await startApi({ flags: FLAGS, rateLimit: { requests: 3, seconds: 10 } })
  try {
    const ask = () => limited.fetchOutside('/robots.txt', { headers: { host: HOST }, from: '127.0.0.1' })
    for (let n = 0; n < 3; n += 1) expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(429)
    expect((await limited.fetch('/robots.txt', { from: '127.0.0.1' })).status).toBe(200)
  } finally {
    await limited.close()
  }
})

describe('a start is refused', () => {
  const refusedWith = (flags: Record<string, string>) => {
    try {
      configOf({ ...flags, 'data-dir': '/x' })
      return null
    } catch (cause) {
      return String(cause)
    }
  }
  const given = (listen: string, more: Record<string, string> = {}) =>
    refusedWith({ 'receive-listen': listen, 'receive-url': OUTSIDE, ...more })

  test('with one of the two settings alone', () => {
    expect(refusedWith({ 'receive-listen': '192.0.2.1:5200' })).toContain('need each other')
    expect(refusedWith({ 'receive-url': OUTSIDE })).toContain('need each other')
  })

  test.each([
    ['the main port', '0.0.0.0:5100', {}],
    ['the plain port', '0.0.0.0:5180', { lan: 'true', 'receive-url': 'https://open.lan' }],
    ['the port of the metrics', '0.0.0.0:9100', { 'metrics-listen': '127.0.0.1:9100' }],
  ])('on %s', (_what, listen, more) => {
    expect(given(listen, more)).toContain('another port than --port, --http-port and --metrics-listen')
  })

  test.each(['127.0.0.1:5200', 'localhost:5200', '127.0.0.5:5200', '[::1]:5200'])(
    'on %s without the proxy that forwards to it',
    (listen) => {
      expect(given(listen)).toContain('--trusted-proxy')
      expect(given(listen, { 'trusted-proxy': '192.0.2.0/24' })).toContain('--trusted-proxy')
      const proxy = listen.startsWith('[') ? '::1' : '127.0.0.0/8'
      expect(given(listen, { 'trusted-proxy': proxy })).toBeNull()
    },
  )

  test('never on a network address with another port', () => {
    expect(given('192.0.2.1:5200')).toBeNull()
  })
})

test('mails lead recipients to the URL for them', async () => {
  const server = await startMailServer()
  const mailing = await startApi({ flags: { ...FLAGS, 'smtp-url': server.url } })
  try {
    const owner = await mailing.addAccount('bob@example.org')
    const { html_url } = await mailing.create({ notify_emails_to: 'cleo@example.org' }, { token: owner })
    await waitUntil(() => server.mails.length > 0)
    expect(html_url).toStartWith(`${OUTSIDE}/box/p/`)
    expect(server.mails[0]?.text).toContain(`${OUTSIDE}/box/p/`)
  } finally {
    await mailing.close()
    await server.stop()
  }
})
