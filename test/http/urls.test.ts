// The table of URLs: each is served, enforces its guard, and writes links that lead back to it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  API,
  type Endpoint,
  FILES,
  MOVED,
  PAGES,
  PREVIOUS_API,
  PREVIOUS_FAMILIES,
  secretLink,
} from '../../src/http/urls.ts'
import { type Api, startApi } from '../support/api.ts'
import { createPeople, type People, type Person } from '../support/people.ts'

const { p, f, r } = PREVIOUS_FAMILIES
const OF_API: Endpoint[] = [API, PREVIOUS_API, p, f, r].flatMap((table) => Object.values(table))
const OF_PAGES: Endpoint[] = Object.values(PAGES)
const ALL: Endpoint[] = [...OF_API, ...OF_PAGES, ...Object.values(FILES), ...MOVED]

/** Returns the path with a value for each parameter. */
const pathOf = ({ path }: Endpoint) =>
  path.replace(':locale', 'en').replace(':id', '7').replace(/:\w+/, '7k3m9qx2vn4t8bw5hj6r0yzacd')
const named = (urls: Endpoint[]) => urls.map((url) => [`${url.method} ${url.path}`, url] as const)

let open: Api
let closed: Api
let people: People
const folder = mkdtempSync(join(tmpdir(), 'oncebox-urls-'))
const proxySecret = join(folder, 'secret')
/** Turns on the paths that need mail, a provider or a proxy. No mail is sent, and nothing answers. */
const ALL_FLAGS = {
  ...{ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' },
  ...{ 'oidc-issuer': 'http://127.0.0.1:1', 'oidc-client-id': 'oncebox' },
  ...{ 'auth-header': 'Remote-Email', 'auth-header-secret-file': proxySecret },
  'base-url': 'http://localhost',
}
beforeAll(async () => {
  writeFileSync(proxySecret, 'a-secret-of-the-proxy')
  open = await startApi({ flags: ALL_FLAGS })
  closed = await startApi({ flags: { ...ALL_FLAGS, 'anonymous-access': 'false' } })
  people = createPeople(open)
  await open.addAccount('bob@example.org')
})
afterAll(async () => {
  await open.close()
  await closed.close()
  rmSync(folder, { recursive: true })
})

test.each(named(ALL))('%s is served', async (_, url) => {
  const refused = await open.fetch(pathOf(url), { method: 'PUT' })
  expect(refused.status).toBe(405)
  expect(refused.headers.get('allow')?.split(', ')).toContain(url.method)
})

const statusOf = async (api: Api, url: Endpoint) =>
  (await api.fetch(pathOf(url), { method: url.method, redirect: 'manual' })).status

test('links of Password Pusher to a new password or account redirect to these pages if the server has them', async () => {
  const full = await startApi({ flags: { ...ALL_FLAGS, signups: 'true' } })
  const locationOf = async (api: Api, path: string) =>
    (await api.fetch(path, { redirect: 'manual' })).headers.get('location')
  try {
    expect(await locationOf(open, '/users/password/new')).toBe('/sign-in/forgot')
    expect(await locationOf(open, '/users/sign_up')).toBe('/sign-in')
    expect(await locationOf(full, '/de/users/password/new?a=b')).toBe('/sign-in/forgot?a=b&locale=de')
    expect(await locationOf(full, '/users/sign_up')).toBe('/sign-up')
    for (const path of ['/users/password/new', '/users/sign_up'])
      expect((await full.fetch((await locationOf(full, path)) ?? '')).status).toBe(200)
  } finally {
    await full.close()
  }
})

describe('without a token', () => {
  test.each(named(OF_API.filter(({ guard }) => guard === 'account')))('%s is 401', async (_, url) => {
    expect([await statusOf(open, url), await statusOf(closed, url)]).toEqual([401, 401])
  })

  test.each(named(OF_API.filter(({ guard }) => guard === 'visitor')))(
    '%s is 401 only without anonymous access',
    async (_, url) => {
      expect(await statusOf(open, url)).not.toBe(401)
      expect(await statusOf(closed, url)).toBe(401)
    },
  )

  test.each(named([...OF_API, ...Object.values(FILES)].filter(({ guard }) => guard === 'open')))(
    '%s is never 401',
    async (_, url) => {
      expect(await statusOf(closed, url)).not.toBe(401)
    },
  )
})

describe('without a session', () => {
  const asksToSignIn = async (api: Api, { method, path }: Endpoint) => {
    const answer = await api.fetch(pathOf({ method, path, guard: 'open' }), { method, redirect: 'manual' })
    return answer.headers.get('location')?.startsWith(PAGES.signIn.href()) === true
  }

  test.each(named(OF_PAGES))('%s redirects to sign-in if its guard says so', async (_, url) => {
    const isForMembers = url.guard === 'member' || url.guard === 'admin'
    expect(await asksToSignIn(open, url)).toBe(isForMembers)
    // The create form checks this itself, after it has read what was typed.
    if (url !== PAGES.submitCreate) {
      expect(await asksToSignIn(closed, url)).toBe(isForMembers || url.guard === 'visitor')
    }
  })
})

test.each(named(OF_PAGES.filter(({ guard }) => guard === 'admin')))(
  '%s is forbidden to a member who is no administrator',
  async (_, url) => {
    const bob = await people.signIn('bob@example.org')
    const answer = url.method === 'GET' ? await bob.get(pathOf(url)) : await bob.post(pathOf(url), {})
    expect(answer.status).toBe(403)
    // A request for the password would be a 403 too.
    expect(answer.text).not.toContain('type="password"')
  },
)

describe('an unexpected body', () => {
  const MULTIPART = 'multipart/form-data; boundary=b'
  const PART = '--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nx'
  const BODIES: [string | null, string][] = [
    [null, ''],
    [null, 'a=b'],
    [null, PART],
    ['', 'a=b'],
    ['application/json', '{"push":{"payload":"x"}}'],
    ['application/json', '{"pu'],
    ['text/plain', 'a=b'],
    ['application/x-www-form-urlencoded', 'a=%ff&%&&=&form'],
    ['application/x-www-form-urlencoded; charset=utf-16', '\0\0'],
    ['multipart/form-data', PART],
    ['multipart/form-data; boundary=', PART],
    [MULTIPART, ''],
    [MULTIPART, PART],
    [MULTIPART, 'text=x'],
    [MULTIPART, `${PART}\r\n--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\ny`],
    [`${MULTIPART}; boundary=c`, `${PART}\r\n--b--\r\n`],
    ['multipart/mixed; boundary=b', `${PART}\r\n--b--\r\n`],
  ]
  // Skip the provider's logout, which reads no page.
  const posts = named(OF_PAGES.filter((url) => url.method === 'POST' && url !== PAGES.providerLogout))

  /** An address without rate limits. */
  const from = '127.0.0.1'
  let admin: Person
  beforeAll(async () => {
    await open.addAccount('cleo@example.org', { isAdmin: true })
    admin = await people.signIn('cleo@example.org', { from })
  })

  test.each(posts)('%s answers with a page, not with 5xx', async (_, url) => {
    for (const [type, body] of BODIES) {
      const headers: HeadersInit = type === null ? {} : { 'content-type': type }
      // Bytes, because a text would imply a content type.
      const init = { method: 'POST', body: Buffer.from(body), headers, from }
      for (const { status, text } of [
        await people.get(pathOf(url), init),
        await admin.get(pathOf(url), init),
      ]) {
        const said = [type, body, status]
        expect([...said, status < 500]).toEqual([...said, true])
        if (status >= 400) expect(text.slice(0, 15)).toBe('<!doctype html>')
        // Some pages first check the sender, or whether the push exists. The create form accepts JSON.
        const isOther = type !== null && /json|plain|mixed/.test(type) && url !== PAGES.submitCreate
        if (isOther && ![303, 404].includes(status)) expect(said).toEqual([type, body, 415])
      }
    }
  })

  test.each([
    [undefined, 400],
    ['application/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data', 400],
    [MULTIPART, 400],
  ])('shared by the system in %p is %i', async (type, status) => {
    const headers: HeadersInit = type === undefined ? {} : { 'content-type': type }
    for (const body of ['', PART, '{}', 'text=x']) {
      const answer = await people.get('/share', { method: 'POST', body: Buffer.from(body), headers })
      expect([body, answer.status]).toEqual([body, status])
    }
  })
})

test('a path contains its parameter, escaped', () => {
  expect(PAGES.push.href({ url_token: 'a/b?c#d' })).toBe('/pushes/a%2Fb%3Fc%23d')
  expect(PAGES.disableAccount.href({ id: 7 })).toBe('/admin/accounts/7/disable')
  expect(PREVIOUS_FAMILIES.f.retrieve.href({ url_token: 'abc' })).toBe('/f/abc.json')
  expect(PAGES.create.href()).toBe('/')
})

test('the secret link ends in /r if there is a confirmation step', () => {
  const link = (retrievalStep: boolean) =>
    secretLink({ push: { retrievalStep }, urlToken: 'abc' }, 'https://once.example/box')
  expect(link(false)).toBe('https://once.example/box/p/abc')
  expect(link(true)).toBe('https://once.example/box/p/abc/r')
})
