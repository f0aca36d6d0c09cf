// Sign-in by an OpenID provider, as its people see it.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DAY, HOUR, MINUTE } from '../../../src/domain/time.ts'
import { createTestClock, startInstance, type TestInstance } from '../../support/instance.ts'
import {
  type Browser,
  createBrowser,
  flagsFor,
  type LyingProvider,
  signInBy,
  startLyingProvider,
} from '../../support/lying-provider.ts'
import { codeOf } from '../../support/tour.ts'
import { waitUntil } from '../../support/waiting.ts'

const ANN = 'ann@example.org'
const ROOT = 'root@example.org'
const PASSWORD = 'correct horse battery'

let provider: LyingProvider
let instance: TestInstance
let ann: Browser

async function start(flags: Record<string, string> = {}) {
  instance = await startInstance({
    flags: { ...flagsFor(provider), ...flags },
    clock: createTestClock(Date.now()),
  })
  ann = createBrowser(instance)
}

beforeEach(async () => {
  provider = await startLyingProvider()
})
afterEach(async () => {
  await instance.close()
  await provider.close()
})

function readRows<Row>(sql: string): Row[] {
  const database = new Database(join(instance.dataDir, 'oncebox.db'), { readonly: true })
  try {
    return database.query<Row, []>(sql).all()
  } finally {
    database.close()
  }
}

const find = async (email: string) => instance.accounts().findAccount(email)

/** Follows the first link to the provider on a page. */
const linkIn = (text: string) =>
  /href="(\/sign-in\/oidc[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'none'

test('no request is sent to the provider before somebody wants to sign in', async () => {
  await start()
  const { text } = await ann.get('/sign-in')
  expect(text).toContain('Sign in with Example')
  expect(provider.state.asked).toEqual([])
  const { headers } = await ann.get('/sign-in/oidc')
  expect(provider.state.asked).toEqual(['/.well-known/openid-configuration'])
  expect(headers.getSetCookie()[0]).toMatch(
    /^oncebox_provider=\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
  )
})

test('the URL of the provider has a challenge, a nonce, a state, and the callback of the base URL', async () => {
  await start()
  const { location } = await ann.get('/sign-in/oidc', { headers: { host: 'localhost' } })
  const asked = Object.fromEntries(new URL(location).searchParams)
  expect(asked).toMatchObject({
    ...{ response_type: 'code', client_id: 'oncebox', code_challenge_method: 'S256' },
    redirect_uri: 'http://localhost/sign-in/oidc/callback',
  })
  for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/)
})

test('a first sign-in creates an account without a password, and a second one finds it', async () => {
  await start()
  const answer = await signInBy(provider, ann, { path: '/sign-in/oidc?next=/pushes' })
  expect([answer.status, answer.location]).toEqual([303, '/pushes'])
  expect(ann.cookies.has('oncebox_provider')).toBe(false)
  expect(await ann.isSignedIn()).toBe(true)
  expect(await find(ANN)).toMatchObject({ hasPassword: false, isAdmin: false })
  const again = createBrowser(instance)
  await signInBy(provider, again, { claims: { email: 'renamed@example.org' } })
  expect((await again.get('/account')).text).toContain(ANN)
  expect(await find('renamed@example.org')).toBeNull()
})

test('no password signs in to an account without one', async () => {
  await start()
  await signInBy(provider, ann)
  for (const password of ['!', PASSWORD])
    expect((await createBrowser(instance).post('/sign-in', { email: ANN, password })).status).toBe(422)
})

test.each(['//evil.example', '/\\evil.example', 'https://evil.example/', '/pushes\n'])(
  'a page of another server is ignored: %p',
  async (next) => {
    await start()
    const path = `/sign-in/oidc?next=${encodeURIComponent(next)}`
    expect((await signInBy(provider, ann, { path })).location).toBe('/')
  },
)

test('a new session gets a new token, whatever cookie the browser had', async () => {
  await start()
  ann.cookies.set('oncebox_session', 'chosen-by-somebody-else')
  await signInBy(provider, ann)
  expect(ann.cookies.get('oncebox_session')).not.toBe('chosen-by-somebody-else')
})

test('the session ends after its hours', async () => {
  await start({ 'session-hours': '2' })
  await signInBy(provider, ann)
  instance.clock.advance(2 * HOUR - MINUTE)
  expect(await ann.isSignedIn()).toBe(true)
  instance.clock.advance(MINUTE)
  expect(await ann.isSignedIn()).toBe(false)
})

const NO_ACCOUNT: [string, Record<string, string>, Record<string, unknown>][] = [
  ['without sign-up', { 'oidc-signup': 'no' }, {}],
  ['of another domain', { 'signup-domains': 'example.com' }, {}],
  ['with an unverified address', {}, { email_verified: false }],
  ['whose address is verified as a text', {}, { email_verified: 'true' }],
  ['without a word about the address', {}, { email_verified: undefined }],
  ['without an address', {}, { email: undefined, email_verified: undefined }],
  ['with the address of the emergency account', { 'break-glass': ANN }, {}],
]

test.each(NO_ACCOUNT)('a person %s gets no account', async (_name, flags, claims) => {
  await start(flags)
  const answer = await signInBy(provider, ann, { claims })
  expect(answer.status).toBe(403)
  expect(answer.text).toContain('Ask an administrator for an invitation')
  expect(await find(ANN)).toBeNull()
  expect(await ann.isSignedIn()).toBe(false)
})

test('an address at the userinfo endpoint counts like one in the token', async () => {
  await start()
  provider.state.lies = { userInfo: { email: ANN, email_verified: true } }
  await signInBy(provider, ann, { claims: { email: undefined, email_verified: undefined } })
  expect(await find(ANN)).not.toBeNull()
})

test('claims of the userinfo endpoint about another person are refused', async () => {
  await start()
  provider.state.lies = { userInfo: { sub: 'sub-eve', email: ANN, email_verified: true } }
  expect((await signInBy(provider, ann, { claims: { email: undefined } })).status).toBe(400)
})

test('an invitation creates the account, whatever the address at the provider', async () => {
  await start({ 'oidc-signup': 'no', 'password-sign-in': 'no', 'break-glass': ROOT })
  await instance.addAccount(ROOT, { isAdmin: true })
  const root = createBrowser(instance)
  await root.post('/sign-in', { email: ROOT, password: PASSWORD })
  const { text } = await root.post('/admin/invitations', { email: 'bob@example.org' })
  const link = /localhost(\/welcome\/\w+)</.exec(text)?.[1] ?? 'none'
  const page = await ann.get(link)
  expect(page.text).not.toContain('type="password"')
  const password = await ann.post(link, { email: 'bob@example.org', password: 'another long password' })
  expect([password.status, await find('bob@example.org')]).toEqual([200, null])
  await signInBy(provider, ann, { path: linkIn(page.text), claims: { email_verified: false } })
  expect((await ann.get('/account')).text).toContain('bob@example.org')
  // The link was used up.
  const eve = createBrowser(instance)
  const late = await signInBy(provider, eve, { path: linkIn(page.text), claims: { sub: 'sub-eve' } })
  expect([late.status, await eve.isSignedIn()]).toEqual([400, false])
})

test('linking an account asks for its password', async () => {
  await start()
  await instance.addAccount(ANN)
  const asked = await signInBy(provider, ann)
  expect([asked.status, await ann.isSignedIn()]).toEqual([200, false])
  const pending = ann.hidden(asked.text, 'pending')
  const wrong = await ann.post('/sign-in/oidc', { pending, password: 'not the password of Ann' })
  expect([wrong.status, await ann.isSignedIn()]).toEqual([422, false])
  await ann.post('/sign-in/oidc', { pending, password: PASSWORD })
  expect(await ann.isSignedIn()).toBe(true)
  const again = createBrowser(instance)
  expect((await signInBy(provider, again)).status).toBe(303)
  expect((await again.get('/account')).text).toContain('Example signs you in to this account')
})

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const code = () => codeOf(SECRET, instance.clock.now())

test('an account with a second factor is asked for it when it is linked, after the provider, and to confirm', async () => {
  await start({ 'require-second-factor': 'true' })
  await signInBy(provider, ann)
  // A new session may set up its first factor, and do nothing else.
  expect((await ann.get('/account')).location).toBe('/account/two-factor')
  await ann.get('/account/two-factor')
  const { text: codes } = await ann.post('/account/two-factor', { secret: SECRET, code: code() })
  expect(codes).toContain('id="codes"')
  instance.clock.advance(MINUTE)
  const again = createBrowser(instance)
  const asked = await signInBy(provider, again)
  expect([asked.status, again.cookies.has('oncebox_session')]).toEqual([200, false])
  const pending = again.hidden(asked.text, 'pending')
  expect((await again.post('/sign-in/code', { pending, code: '000000' })).status).toBe(422)
  expect((await again.post('/sign-in/code', { pending, code: code() })).status).toBe(303)
  expect(await again.isSignedIn()).toBe(true)
  const [session] = readRows<{ via: string; subject: string }>(
    'SELECT via, subject FROM sessions ORDER BY id DESC',
  )
  expect(session).toEqual({ via: 'oidc', subject: 'sub-ann' })
  // If a provider never reports when it authenticated the person, a code is required as well.
  instance.clock.advance(MINUTE)
  const path = linkIn((await again.post('/users/token', { name: 'ci' })).text)
  const confirming = await signInBy(provider, again, { path, claims: { auth_time: undefined } })
  const waiting = { pending: again.hidden(confirming.text, 'pending') }
  expect((await again.post('/sign-in/oidc', { ...waiting, code: '000000' })).status).toBe(422)
  expect((await again.post('/sign-in/oidc', { ...waiting, code: code() })).status).toBe(303)
  expect((await again.post('/users/token', { name: 'ci' })).text).toContain('obx_')
})

test('a person whom the provider signs out while the code is awaited is not signed in', async () => {
  await start()
  await signInBy(provider, ann)
  await ann.post('/account/two-factor', { secret: SECRET, code: code() })
  const comeWhile = async (claims: Record<string, unknown> | null) => {
    instance.clock.advance(MINUTE)
    const browser = createBrowser(instance)
    provider.state.lies = { claims: { iat: Math.floor(Date.now() / 1000), sid: 'one' } }
    const pending = browser.hidden((await signInBy(provider, browser)).text, 'pending')
    instance.clock.advance(1)
    const body =
      claims && new URLSearchParams({ logout_token: await provider.logoutToken(claims) }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    if (body !== null) await instance.fetch('/sign-in/oidc/logout', { method: 'POST', headers, body })
    await browser.post('/sign-in/code', { pending, code: code() })
    return browser.isSignedIn()
  }
  expect(await comeWhile({ sid: 'one' })).toBe(false)
  expect(await comeWhile({})).toBe(false)
  expect(await comeWhile({ sid: 'two' })).toBe(true)
  expect(await comeWhile(null)).toBe(true)
})

test('linking an account with a second factor asks for its code after the password', async () => {
  await start()
  await instance.addAccount(ANN)
  await ann.post('/sign-in', { email: ANN, password: PASSWORD })
  await ann.post('/account/two-factor', { secret: SECRET, code: code(), password: PASSWORD })
  instance.clock.advance(MINUTE)
  const other = createBrowser(instance)
  const asked = await signInBy(provider, other)
  const fields = { pending: other.hidden(asked.text, 'pending'), password: PASSWORD }
  const next = await other.post('/sign-in/oidc', fields)
  expect([next.status, await other.isSignedIn()]).toEqual([200, false])
  const linked = () => readRows('SELECT 1 FROM identities').length
  expect(linked()).toBe(0)
  await other.post('/sign-in/code', { pending: other.hidden(next.text, 'pending'), code: code() })
  expect([linked(), await other.isSignedIn()]).toEqual([1, true])
})

test('a second factor at the provider meets --require-second-factor', async () => {
  await start({ 'require-second-factor': 'true' })
  await signInBy(provider, ann, { claims: { amr: ['pwd', 'mfa'] } })
  expect(await ann.isSignedIn()).toBe(true)
  const weak = createBrowser(instance)
  await signInBy(provider, weak, { claims: { amr: ['pwd'] } })
  expect(await weak.isSignedIn()).toBe(false)
})

test('no session begins while its account is disabled', async () => {
  await start()
  await signInBy(provider, ann)
  const browsers = Array.from({ length: 4 }, () => createBrowser(instance))
  const coming = browsers.map((browser) => signInBy(provider, browser))
  await Promise.all([...coming, instance.accounts().disableAccount(ANN)])
  const open = await Promise.all(browsers.map((browser) => browser.isSignedIn()))
  expect(open).toEqual([false, false, false, false])
})

test('another person with the same address cannot sign in to any account', async () => {
  await start()
  await signInBy(provider, ann)
  const eve = createBrowser(instance)
  expect((await signInBy(provider, eve, { claims: { sub: 'sub-eve' } })).status).toBe(403)
  expect(await eve.isSignedIn()).toBe(false)
})

test('a disabled account is not signed in', async () => {
  await start()
  await signInBy(provider, ann)
  await instance.accounts().disableAccount(ANN)
  expect((await signInBy(provider, createBrowser(instance))).status).toBe(403)
})

test('groups make and unmake an administrator at each sign-in', async () => {
  await start({ 'oidc-admin-group': 'groups=admins' })
  const isAdmin = async (claims: Record<string, unknown>) => {
    await signInBy(provider, createBrowser(instance), { claims })
    return (await find(ANN))?.isAdmin
  }
  expect(await isAdmin({ groups: ['staff', 'admins'] })).toBe(true)
  expect(await isAdmin({ groups: ['staff'] })).toBe(false)
  expect(await isAdmin({ groups: 'admins' })).toBe(true)
  expect(await isAdmin({})).toBe(false)
  expect(await isAdmin({ groups: ['admins'] })).toBe(true)
  const overflow = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'x' } } }
  expect(await isAdmin({ ...overflow, groups: ['admins'] })).toBe(false)
})

test('only the emergency account has a password, and each use creates an event', async () => {
  await start({ 'password-sign-in': 'no', 'break-glass': ROOT })
  const token = await instance.addAccount(ROOT, { isAdmin: true })
  await instance.addAccount(ANN)
  expect((await ann.post('/sign-in', { email: ANN, password: PASSWORD })).status).toBe(422)
  const root = createBrowser(instance)
  expect((await root.post('/sign-in', { email: ROOT, password: PASSWORD })).status).toBe(303)
  expect(instance.log.some((line) => line.includes('--break-glass signed in'))).toBe(true)
  const events = await (await instance.fetch('/api/oncebox/events', { token })).json()
  expect(events.events.map(({ type }: { type: string }) => type)).toEqual(['account.break_glass'])
  const by = await signInBy(provider, createBrowser(instance), { claims: { email: ROOT } })
  expect(by.status).toBe(403)
})

test('with --password-sign-in no, the setup link makes the emergency account', async () => {
  await start({ 'password-sign-in': 'no', 'break-glass': 'Root@Example.org' })
  const path = instance.setupPath() ?? 'none'
  expect((await ann.get(path)).text).toContain(ROOT)
  await ann.post(path, { email: ANN, password: PASSWORD })
  expect(await ann.isSignedIn()).toBe(true)
  expect([await find(ROOT), await find(ANN)]).toMatchObject([{ isAdmin: true }, null])
})

test('a start warns while the emergency account could not sign in', async () => {
  await start({ 'password-sign-in': 'no', 'break-glass': ROOT })
  const restarted = async () => {
    const before = instance.log.length
    await instance.restart()
    return instance.log.slice(before).find((line) => line.includes('account of --break-glass')) ?? 'fine'
  }
  await instance.addAccount(ANN, { isAdmin: true })
  expect(await restarted()).toContain('does not exist')
  await instance.addAccount(ROOT)
  expect(await restarted()).toContain('is no administrator')
  await instance.accounts().makeAdmin(ROOT)
  expect(await restarted()).toBe('fine')
  await instance.accounts().disableAccount(ROOT)
  expect(await restarted()).toContain('is disabled')
})

test('with --password-sign-in admin, only administrators have passwords', async () => {
  await start({ 'password-sign-in': 'admin', 'break-glass': 'glass@example.org' })
  await instance.addAccount(ROOT, { isAdmin: true })
  await instance.addAccount(ANN)
  const statusOf = async (email: string) =>
    (await createBrowser(instance).post('/sign-in', { email, password: PASSWORD })).status
  expect([await statusOf(ROOT), await statusOf(ANN)]).toEqual([303, 422])
})

test('no reset link is mailed to an account whose password could not sign in', async () => {
  const mail = { 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' }
  await start({ ...mail, 'password-sign-in': 'no', 'break-glass': ROOT })
  for (const email of [ANN, ROOT]) await instance.addAccount(email)
  for (const email of [ANN, ROOT]) await ann.post('/sign-in/forgot', { email })
  await waitUntil(() => readRows('SELECT 1 FROM account_links WHERE account_id > 0').length > 0)
  const links = readRows<{ email: string }>(
    'SELECT a.email FROM account_links, accounts a WHERE a.id = account_id',
  )
  expect(links).toEqual([{ email: ROOT }])
})

test('no reset link is mailed to an account that only the provider signs in to', async () => {
  await start({ 'smtp-url': 'smtps://127.0.0.1:1', 'mail-from': 'once@example.org' })
  await signInBy(provider, ann)
  await instance.addAccount(ROOT)
  for (const email of [ANN, ROOT]) await ann.post('/sign-in/forgot', { email })
  const linked = () =>
    readRows<{ email: string }>('SELECT a.email FROM account_links, accounts a WHERE a.id = account_id')
  await waitUntil(() => linked().length > 0)
  expect(linked()).toEqual([{ email: ROOT }])
})

test('/version lists the ways to sign in', async () => {
  await start({ 'password-sign-in': 'no', 'break-glass': ROOT })
  const { extensions } = await (await instance.fetch('/api/v2/version')).json()
  expect(extensions.sign_in).toEqual(['oidc'])
})

test('a sensitive action asks the provider again, and accepts only a fresh answer about the same person', async () => {
  await start()
  await signInBy(provider, ann)
  const asked = await ann.post('/users/token', { name: 'ci' })
  expect(asked.status).toBe(403)
  expect(asked.text).not.toContain('type="password"')
  const path = linkIn(asked.text)
  const { location } = await ann.get(path)
  expect(new URL(location).searchParams.get('max_age')).toBe('0')
  const seconds = Math.floor(Date.now() / 1000)
  for (const claims of [{ sub: 'sub-eve' }, { auth_time: seconds - 90 }, { auth_time: undefined }])
    expect((await signInBy(provider, ann, { path, claims })).status).toBe(403)
  expect((await ann.post('/users/token', { name: 'ci' })).status).toBe(403)
  const confirmed = await signInBy(provider, ann, { path, claims: { auth_time: seconds - 50 } })
  expect([confirmed.status, confirmed.location]).toEqual([303, '/users/token'])
  expect((await ann.post('/users/token', { name: 'ci' })).text).toContain('obx_')
  // Another session uses the same ticket.
  const eve = createBrowser(instance)
  await signInBy(provider, eve)
  expect((await signInBy(provider, eve, { path })).status).toBe(400)
})

test('an account is linked from its page, and unlinked, which ends the sessions of the provider', async () => {
  await start()
  await instance.addAccount(ANN)
  await ann.post('/sign-in', { email: ANN, password: PASSWORD })
  const page = await ann.post('/account/provider', {})
  const linked = await signInBy(provider, ann, { path: linkIn(page.text), claims: { email_verified: false } })
  expect([linked.status, linked.location]).toEqual([303, '/account?done=linked#provider'])
  const other = createBrowser(instance)
  await signInBy(provider, other)
  expect(await other.isSignedIn()).toBe(true)
  await ann.post('/account/provider/remove', {})
  expect([await other.isSignedIn(), await ann.isSignedIn()]).toEqual([false, true])
  expect(
    (await signInBy(provider, createBrowser(instance), { claims: { email_verified: false } })).status,
  ).toBe(403)
})

test('API tokens of an account without a password pause without a sign-in', async () => {
  await start({ 'token-pause-days': '30' })
  const rootToken = await instance.addAccount(ROOT, { isAdmin: true })
  await signInBy(provider, ann)
  const { apiToken: token } = await instance.apiTokens().createApiToken({ email: ANN })
  const list = () => instance.fetch('/api/v2/pushes/active', { token })
  const eventsOf = async (of: string) => {
    const answer = await instance.fetch('/api/oncebox/events', { token: of })
    return (await answer.json()).events
  }
  instance.clock.advance(15 * DAY)
  await instance.sweep()
  expect(await eventsOf(token)).toEqual([])
  instance.clock.advance(DAY)
  await instance.sweep()
  await instance.sweep()
  for (const of of [token, rootToken]) {
    expect(await eventsOf(of)).toMatchObject([{ type: 'token.pauses_soon', data: { account: ANN } }])
  }
  instance.clock.advance(14 * DAY)
  const paused = await list()
  expect([paused.status, await paused.json()]).toEqual([401, { error: 'token-paused' }])
  await instance.accounts().setService(ANN, true)
  expect((await list()).status).toBe(200)
  await instance.accounts().setService(ANN, false)
  provider.state.lies = { claims: { exp: Math.floor(Date.now() / 1000) + 300 } }
  await signInBy(provider, createBrowser(instance))
  expect((await list()).status).toBe(200)
})
