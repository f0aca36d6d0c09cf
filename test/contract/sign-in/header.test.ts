// Sign-in by the header of a proxy: where the header is trusted, and that it is ignored everywhere else.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HOUR, MINUTE } from '../../../src/domain/time.ts'
import { startInstance, type TestInstance } from '../../support/instance.ts'
import { createBrowser } from '../../support/lying-provider.ts'
import { codeOf } from '../../support/tour.ts'

const ANN = 'ann@example.org'
const PASSWORD = 'correct horse battery'
const PROXY_SECRET = 'a-secret-of-the-proxy'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

let instance: TestInstance
let folder: string
afterEach(async () => {
  await instance.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a server whose proxy has a secret. */
async function start(flags: Record<string, string> = {}) {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-header-'))
  const file = join(folder, 'secret')
  writeFileSync(file, `${PROXY_SECRET}\n`)
  instance = await startInstance({
    flags: { 'auth-header': 'Remote-Email', 'auth-header-secret-file': file, ...flags },
  })
}

/** The headers of the proxy for this person. */
const as = (email: string, secret = PROXY_SECRET) => ({
  'remote-email': email,
  'x-oncebox-proxy-secret': secret,
})

/** A browser behind the proxy, which names the same person with every request. */
function createProxied(email = ANN) {
  const browser = createBrowser(instance)
  const headers = { ...as(email) }
  return {
    ...browser,
    headers,
    get: (path: string) => browser.get(path, { headers }),
    post: async (path: string, fields: Record<string, string>) => {
      const page = await browser.get('/account/two-factor', { headers })
      const shown = page.status === 303 ? await browser.get('/account', { headers }) : page
      const form = browser.hidden(shown.text, 'form')
      const body = new URLSearchParams({ form, ...fields }).toString()
      const type = { 'content-type': 'application/x-www-form-urlencoded', origin: 'http://localhost' }
      return browser.get(path, { method: 'POST', headers: { ...headers, ...type }, body })
    },
  }
}

const find = (email: string) => instance.accounts().findAccount(email)

test('the first visit creates an account, and a later one finds it', async () => {
  await start()
  const ann = createProxied()
  const answer = await ann.get('/sign-in/header?next=/pushes')
  expect([answer.status, answer.location]).toEqual([303, '/pushes'])
  expect((await ann.get('/pushes')).status).toBe(200)
  expect(await find(ANN)).toMatchObject({ hasPassword: false, isAdmin: false })
  const again = createProxied('ANN@example.org')
  await again.get('/sign-in/header')
  expect((await again.get('/account')).text).toContain(ANN)
  expect((await instance.accounts().listAccounts()).length).toBe(1)
  expect((await ann.get('/sign-in')).text).toContain('href="/sign-in/header')
})

test('two concurrent first visits create one account', async () => {
  await start()
  const statuses = await Promise.all([1, 2, 3].map(() => createProxied().get('/sign-in/header')))
  expect(statuses.map(({ status }) => status)).toEqual([303, 303, 303])
})

test.each([
  ['no header', { 'x-oncebox-proxy-secret': PROXY_SECRET }],
  ['no secret', { 'remote-email': ANN }],
  ['another secret', as(ANN, 'a-secret-of-the-proxx')],
  ['a secret sent twice', as(ANN, `${PROXY_SECRET}, ${PROXY_SECRET}`)],
  ['the start of the secret', as(ANN, PROXY_SECRET.slice(0, -1))],
])('%s signs nobody in, from any peer', async (_name, headers) => {
  await start()
  for (const from of ['192.0.2.1', '127.0.0.1', '::1']) {
    const answer = await instance.fetch('/sign-in/header', { headers, from })
    expect([answer.status, answer.headers.has('set-cookie')]).toEqual([403, false])
  }
  expect(await find(ANN)).toBeNull()
})

test.each([
  'ann@example.org, bob@example.org',
  'ann@example.org,bob@example.org',
  'ann',
  'ann@',
  'Ann <ann@example.org>',
  `${'a'.repeat(250)}@example.org`,
  'änn@example.org',
  'ann@example.org;x',
])('the value %p is refused', async (email) => {
  await start()
  const headers = as(email)
  const answer = await instance.fetch('/sign-in/header', { headers })
  expect(answer.status).toBe(400)
  expect(await instance.accounts().listAccounts()).toEqual([])
})

test('a header that is sent twice is refused', async () => {
  await start()
  const headers = new Headers(as(ANN))
  headers.append('remote-email', 'bob@example.org')
  expect((await instance.fetch('/sign-in/header', { headers })).status).toBe(400)
})

test('a person of another domain, a disabled account and the emergency account are not signed in', async () => {
  await start({ 'signup-domains': 'example.org', 'break-glass': 'root@example.org' })
  await instance.addAccount('root@example.org', { isAdmin: true })
  await instance.addAccount('bob@example.org')
  await instance.accounts().disableAccount('bob@example.org')
  for (const email of ['eve@example.com', 'bob@example.org', 'root@example.org'])
    expect((await createProxied(email).get('/sign-in/header')).status).toBe(403)
  expect(await find('eve@example.com')).toBeNull()
})

test('a missing or another value on a page of the account ends the session', async () => {
  await start()
  for (const headers of [{}, as('bob@example.org'), as(ANN, 'another-secret-of-somebody'), as('x, y')]) {
    const ann = createBrowser(instance)
    await ann.get('/sign-in/header', { headers: as(ANN) })
    expect((await ann.get('/account', { headers: as(ANN) })).status).toBe(200)
    expect((await ann.get('/account', { headers: headers as Record<string, string> })).status).toBe(303)
    expect((await ann.get('/account', { headers: as(ANN) })).status).toBe(303)
  }
})

test('pages of recipients ignore the header, and leave the session', async () => {
  await start()
  const ann = createBrowser(instance)
  await ann.get('/sign-in/header', { headers: as(ANN) })
  for (const path of ['/p/unknown', '/robots.txt', '/up', '/sign-in'])
    await ann.get(path, { headers: as('bob@example.org') })
  expect((await ann.get('/account', { headers: as(ANN) })).status).toBe(200)
})

test('the header alone opens nothing: no page, no form, no API', async () => {
  await start()
  await instance.addAccount(ANN, { isAdmin: true })
  const headers = as(ANN)
  const pages = ['/account', '/pushes', '/admin', '/requests', '/users/token', '/account/webhooks']
  for (const path of pages) expect((await instance.fetch(path, { headers })).status).toBe(303)
  for (const path of ['/api/v2/pushes/active', '/api/oncebox/events', '/api/oncebox/webhooks'])
    expect((await instance.fetch(path, { headers })).status).toBe(401)
  const head = await instance.fetch('/sign-in/header', { method: 'HEAD', headers })
  expect(head.headers.has('set-cookie')).toBe(false)
  const post = await instance.fetch('/sign-in/header', { method: 'POST', headers, body: '' })
  expect(post.status).toBe(405)
})

test('a session with a password needs no header', async () => {
  await start()
  await instance.addAccount(ANN)
  const ann = createBrowser(instance)
  await ann.post('/sign-in', { email: ANN, password: PASSWORD })
  expect((await ann.get('/account')).status).toBe(200)
  expect((await ann.get('/account', { headers: as('bob@example.org') })).status).toBe(200)
})

test('the session ends after its hours', async () => {
  await start({ 'session-hours': '1' })
  const ann = createProxied()
  await ann.get('/sign-in/header')
  instance.clock.advance(HOUR)
  expect((await ann.get('/account')).status).toBe(303)
})

test('a second factor is asked for after the header, and confirms sensitive actions by itself', async () => {
  await start()
  const ann = createProxied()
  await ann.get('/sign-in/header')
  instance.clock.advance(11 * MINUTE)
  const late = await ann.post('/users/token', { name: 'ci' })
  expect([late.status, late.text.includes('Turn on a second factor')]).toEqual([403, true])
  const again = createProxied()
  await again.get('/sign-in/header')
  const code = () => codeOf(SECRET, instance.clock.now())
  const turnedOn = await again.post('/account/two-factor', { secret: SECRET, code: code() })
  expect(turnedOn.text).toContain('id="codes"')
  instance.clock.advance(MINUTE)
  const third = createProxied()
  const asked = await third.get('/sign-in/header')
  expect([asked.status, third.cookies.has('oncebox_session')]).toEqual([200, false])
  const pending = third.hidden(asked.text, 'pending')
  expect((await third.post('/sign-in/code', { pending, code: code() })).status).toBe(303)
  instance.clock.advance(MINUTE)
  expect((await third.post('/users/token', { name: 'ci' })).status).toBe(403)
  expect((await third.post('/users/token', { name: 'ci', code: '000000' })).status).toBe(422)
  expect((await third.post('/users/token', { name: 'ci', code: code() })).text).toContain('obx_')
})

test('/version lists it, and without the setting there is no such page', async () => {
  await start()
  const { extensions } = await (await instance.fetch('/api/v2/version')).json()
  expect(extensions.sign_in).toEqual(['password', 'header'])
  const plain = await startInstance()
  const answer = await plain.fetch('/sign-in/header', { headers: as(ANN) })
  await plain.close()
  expect(answer.status).toBe(404)
})

test('a secret that is too short or missing is refused at the start', async () => {
  await start()
  const file = join(folder, 'short')
  writeFileSync(file, 'short')
  const begin = (path: string) =>
    startInstance({ flags: { 'auth-header': 'Remote-Email', 'auth-header-secret-file': path } })
  await expect(begin(file)).rejects.toThrow('at least 16')
  await expect(begin(join(folder, 'none'))).rejects.toThrow('must name a readable file')
})
