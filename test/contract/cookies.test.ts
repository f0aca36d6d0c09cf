// Which cookies are trusted: none that another host, another port or a page over plain HTTP could have set.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'

const PASSWORD = 'correct horse battery'
const EMAIL = 'bob@example.org'
const FORM = 'application/x-www-form-urlencoded'

type Site = { name: string; flags: Record<string, string>; headers: Record<string, string>; from?: string }

const SITES: Site[] = [
  {
    name: 'with --base-url',
    flags: { 'base-url': 'https://once.example' },
    headers: { host: 'once.example' },
  },
  {
    name: 'with a base path',
    flags: { 'base-url': 'https://once.example/box' },
    headers: { host: 'once.example' },
  },
  {
    name: 'behind a trusted proxy',
    flags: { 'trusted-proxy': '192.0.2.9' },
    headers: { host: 'once.local', 'x-forwarded-proto': 'https', 'x-forwarded-for': '198.51.100.7' },
    from: '192.0.2.9',
  },
]

describe.each(SITES)('over TLS, $name', ({ flags, headers, from = '192.0.2.1' }) => {
  let api: Api
  let sessionToken: string
  let name: string
  const base = new URL(flags['base-url'] ?? 'https://once.local')
  const prefix = base.pathname.replace(/\/$/, '')

  const get = async (path: string, cookie: string) => {
    const response = await api.fetch(`${prefix}${path}`, { from, headers: { ...headers, cookie } })
    return { status: response.status, text: await response.text() }
  }
  const isSignedIn = async (cookie: string) => (await get('/account', cookie)).status === 200

  beforeAll(async () => {
    api = await startApi({ flags })
    await api.addAccount(EMAIL)
    const response = await api.fetch(`${prefix}/sign-in`, {
      from,
      body: new URLSearchParams({ email: EMAIL, password: PASSWORD }).toString(),
      headers: { ...headers, 'content-type': FORM, origin: base.origin },
    })
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^__Host-.+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/)
    expect(cookie).not.toContain('Domain')
    ;[name = '', sessionToken = ''] = cookie.split(';', 1)[0]?.split('=') ?? []
  })
  afterAll(() => api.close())

  test('the cookie that the server set is a session', async () => {
    expect(await isSignedIn(`${name}=${sessionToken}`)).toBe(true)
    expect(await isSignedIn(`other=1;${name}=${sessionToken}; more=2`)).toBe(true)
  })

  test('a cookie of any other name is not trusted', async () => {
    const plain = name.replace('__Host-', '')
    for (const other of [
      plain,
      'oncebox_session',
      `__Secure-${plain}`,
      '__Secure-oncebox_session',
      `__host-${plain}`,
      name.toUpperCase(),
      `\u00a0${name}`,
      `\u0085${name}`,
      `\t${name}`,
      `"${name}`,
      `$${name}`,
    ]) {
      expect({ other, isSession: await isSignedIn(`a=1; ${other}=${sessionToken}`) }).toEqual({
        other,
        isSession: false,
      })
    }
  })

  test('an unprefixed cookie is ignored, and two different values count as no cookie', async () => {
    const other = 'z'.repeat(32)
    const plain = name.replace('__Host-', '')
    expect(await isSignedIn(`${plain}=${other}; ${name}=${sessionToken}`)).toBe(true)
    expect(await isSignedIn(`${name}=${sessionToken}; ${name}=${sessionToken}`)).toBe(true)
    expect(await isSignedIn(`${name}=${other}; ${name}=${sessionToken}`)).toBe(false)
    expect(await isSignedIn(`${name}=${sessionToken}; ${name}=${other}`)).toBe(false)
  })

  test('the language cookie follows the same rules', async () => {
    const response = await api.fetch(`${prefix}/?lang=de`, { from, headers })
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';')
    expect(cookie).toStartWith('__Host-oncebox_language')
    expect((await get('/', cookie)).text).toContain('<html lang="de"')
    expect((await get('/', cookie.replace('__Host-', ''))).text).toContain('<html lang="en"')
  })
})

test.each([
  ['the default port in the Host', {}, { host: 'once.example:443' }],
  ['a proxy that puts its own address in the Host', {}, { host: '127.0.0.1:5100' }],
  [
    'a trusted proxy behind another one that ended TLS',
    { 'trusted-proxy': '192.0.2.1' },
    { host: 'once.example', 'x-forwarded-proto': 'https, http', 'x-forwarded-for': '198.51.100.7' },
  ],
])('with an https base URL the cookie stays secure: %s', async (_name, flags, headers) => {
  const api = await startApi({ flags: { 'base-url': 'https://once.example', ...flags } })
  await api.addAccount(EMAIL)
  const response = await api.fetch('/sign-in', {
    body: new URLSearchParams({ email: EMAIL, password: PASSWORD }).toString(),
    headers: { ...headers, 'content-type': FORM, origin: 'https://once.example' },
  })
  const cookie = response.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^__Host-oncebox_session=\w+; .*; Secure$/)
  const asPlain = { ...headers, cookie: cookie.replace('__Host-', ''), origin: 'https://once.example' }
  expect((await api.fetch('/account', { headers: asPlain })).status).toBe(303)
  await api.close()
})

describe('over plain HTTP', () => {
  let api: Api
  beforeAll(async () => {
    api = await startApi({ flags: { 'base-url': 'http://once.example/box' } })
    await api.addAccount(EMAIL)
  })
  afterAll(() => api.close())

  async function signIn(origin: string) {
    const response = await api.fetch('/box/sign-in', {
      body: new URLSearchParams({ email: EMAIL, password: PASSWORD }).toString(),
      headers: { host: 'once.example', 'content-type': FORM, origin },
    })
    return (response.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? ''
  }
  const statusFor = async (cookie: string) =>
    (await api.fetch('/box/account', { headers: { host: 'once.example', cookie } })).status

  test('the cookie has no prefix; two different values count as no cookie', async () => {
    const cookie = await signIn('http://once.example')
    expect(cookie).toStartWith('oncebox_session.box=')
    expect(await statusFor(cookie)).toBe(200)
    expect(await statusFor(`${cookie}; oncebox_session.box=${'z'.repeat(32)}`)).toBe(303)
    expect(await statusFor(cookie.replace('.box', ''))).toBe(303)
  })

  test('an earlier cookie from TLS takes precedence', async () => {
    const cookie = `__Host-${await signIn('http://once.example')}`
    expect(await statusFor(cookie)).toBe(200)
    expect(await statusFor(`oncebox_session.box=${'z'.repeat(32)}; ${cookie}`)).toBe(200)
  })

  test('behind a proxy that does not forward the scheme, signing in fails, because the forms count as cross-site', async () => {
    expect(await signIn('https://once.example')).toBe('')
  })
})
