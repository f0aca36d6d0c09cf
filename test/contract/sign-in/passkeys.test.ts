// Passkeys, with an honest authenticator and a lying one.

import { afterEach, expect, test } from 'bun:test'
import { DAY, MINUTE } from '../../../src/domain/time.ts'
import { alterDatabase } from '../../support/damage.ts'
import { createTestClock, startInstance, type TestInstance } from '../../support/instance.ts'
import { type Browser, createBrowser } from '../../support/lying-provider.ts'
import { textsIn } from '../../support/page-facts.ts'
import {
  askChallenge as challenge,
  createAuthenticator,
  type Lies,
} from '../../support/software-authenticator.ts'
import { codeOf } from '../../support/tour.ts'

const ANN = 'ann@example.org'
const EVE = 'eve@example.org'
const ROOT = 'root@example.org'
const PASSWORD = 'correct horse battery'
const NEXT = 'another long password'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

let instance: TestInstance
let key: ReturnType<typeof createAuthenticator>

async function start(flags: Record<string, string> = {}) {
  instance = await startInstance({
    flags: { 'base-url': 'http://localhost', ...flags },
    clock: createTestClock(Date.now()),
  })
  key = createAuthenticator()
  await instance.addAccount(ANN)
}
afterEach(() => instance.close())

async function signedIn(email = ANN): Promise<Browser> {
  const browser = createBrowser(instance)
  expect((await browser.post('/sign-in', { email, password: PASSWORD })).status).toBe(303)
  return browser
}

/** Adds a passkey, and returns the page afterwards. */
async function add(browser: Browser, { lies = {}, name = 'Key' }: { lies?: Lies; name?: string } = {}) {
  const call = await challenge(browser, { for: 'add' })
  return browser.post('/account/passkeys', { name, passkey: JSON.stringify(key.create(call, lies)) })
}

/** Signs in with the passkey alone. */
async function enter(browser: Browser, lies: Lies = {}, passkey = key.made.at(-1)) {
  const call = await challenge(browser)
  return browser.post('/sign-in/passkey', { passkey: JSON.stringify(key.get(call, lies, passkey)) })
}

/** Sends the password, and then the passkey. */
async function enterBeside(browser: Browser, { password = PASSWORD, lies = {} } = {}) {
  const { text } = await browser.post('/sign-in', { email: ANN, password })
  const pending = browser.hidden(text, 'pending')
  const call = await challenge(browser, { pending })
  const passkey = JSON.stringify(key.get(call, lies))
  return browser.post('/sign-in/passkey', { pending, passkey })
}

test('a passkey is added, named, and signs in without a password', async () => {
  await start()
  const ann = await signedIn()
  const page = await ann.post('/account/passkeys/new', {})
  expect(page.text).toContain('It belongs to the address localhost')
  const added = await add(ann, { name: 'Blue key' })
  expect(textsIn(added.text, '#codes')[0]?.split('\n')).toHaveLength(10)
  const other = createBrowser(instance)
  const answer = await enter(other)
  expect([answer.status, answer.location]).toEqual([303, '/'])
  expect(other.cookies.has('oncebox_passkey')).toBe(false)
  const { text } = await other.get('/account')
  expect(text).toContain('Blue key')
  expect(text).toContain('10 recovery codes')
})

test('the options ask for a discoverable passkey, user verification and no attestation', async () => {
  await start()
  const ann = await signedIn()
  const { create } = await challenge(ann, { for: 'add' })
  expect(create).toMatchObject({
    rp: { id: 'localhost' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  expect(Buffer.from(create.challenge, 'base64url')).toHaveLength(32)
  expect(Buffer.from(create.user.id, 'base64url').toString()).not.toContain('ann')
  await add(ann)
  const again = await challenge(ann, { for: 'add' })
  expect(again.create.user.id).toBe(create.user.id)
  expect(again.create.excludeCredentials).toEqual([{ type: 'public-key', id: key.made[0]?.id }])
  const { get } = await challenge(createBrowser(instance))
  expect(get).toMatchObject({ rpId: 'localhost', userVerification: 'required', allowCredentials: [] })
  const { headers } = await ann.post('/sign-in/passkey/challenge', {})
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.getSetCookie()[0]).toMatch(
    /^oncebox_passkey=\S+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=300$/,
  )
})

const LIES: [string, Lies][] = [
  ['another origin', { origin: 'http://localhost:5100' }],
  ['another RP id', { rpId: 'example.org' }],
  ['another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['a frame of another site', { crossOrigin: true }],
  ['no user verification', { flags: 1 }],
  ['no user presence', { flags: 4 }],
]

test.each([
  ...LIES,
  ['a new passkey', { type: 'webauthn.create' }],
  ['a false signature', { signature: 'MEUCIQDAAAAA' }],
  ['no signature', { signature: '' }],
  ['the user handle of somebody else', { userHandle: 'AAAA' }],
] satisfies [string, Lies][])('a sign-in with %s is refused', async (_name, lies) => {
  await start()
  await add(await signedIn())
  for (const attempt of [enter, (of: Browser, given: Lies) => enterBeside(of, { lies: given })]) {
    const browser = createBrowser(instance)
    const answer = await attempt(browser, lies)
    expect([answer.status, await browser.isSignedIn()]).toEqual([422, false])
    expect(answer.text).toContain('This passkey was not accepted')
  }
  expect(instance.log.filter((line) => line.includes('passkey_wrong'))).toHaveLength(2)
  expect((await enter(createBrowser(instance))).status).toBe(303)
})

test.each([
  ...LIES,
  ['a use of one', { type: 'webauthn.get' }],
  ['an id that is too long', { idLength: 1024 }],
  [
    'a key that is too long',
    { key: Buffer.from(`a4010303390100205907d0${'7'.repeat(4000)}21590064${'0'.repeat(200)}`, 'hex') },
  ],
  ['a key of another algorithm', { key: Buffer.from('a401010327200621582000', 'hex') }],
] satisfies [string, Lies][])('a new passkey with %s is refused', async (_name, lies) => {
  await start()
  const ann = await signedIn()
  const answer = await add(ann, { lies })
  expect(answer.status).toBe(422)
  expect((await instance.accounts().requireAccount(ANN)).passkeys).toBe(0)
  expect(instance.log.some((line) => line.includes('passkey_wrong'))).toBe(true)
})

test.each(['packed', 'android-key', 'tpm', 'fido-u2f', 'apple', 'nonsense'])(
  'an attestation in the format %s is ignored, and nothing is fetched for it',
  async (attestation) => {
    await start()
    const answer = await add(await signedIn(), { lies: { attestation } })
    expect(answer.status).toBe(200)
    expect((await enter(createBrowser(instance))).status).toBe(303)
  },
)

test.each([
  '',
  '{',
  'null',
  '[]',
  '{"id":7}',
  '{"id":"AAAA"}',
  '{"id":"AAAA","clientDataJSON":"AAAA"}',
  `{"id":"${'A'.repeat(17_000)}"}`,
  JSON.stringify({ id: 'AAAA', attestationObject: Buffer.alloc(9_000, 0x81).toString('base64url') }),
])('a malformed answer is refused: %p', async (passkey) => {
  await start()
  const ann = await signedIn()
  await challenge(ann)
  expect((await ann.post('/sign-in/passkey', { passkey })).status).toBe(422)
  await challenge(ann, { for: 'add' })
  expect((await ann.post('/account/passkeys', { passkey })).status).toBe(422)
  expect(instance.log.filter((line) => /"level":(50|"error")/.test(line))).toEqual([])
})

test('a challenge works once, in the browser that got it, for its purpose, and for five minutes', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  const send = async (browser: Browser, call: Parameters<typeof key.get>[0]) =>
    (await browser.post('/sign-in/passkey', { passkey: JSON.stringify(key.get(call)) })).status
  const [one, other] = [createBrowser(instance), createBrowser(instance)]
  const call = await challenge(one)
  const cookie = one.cookies.get('oncebox_passkey') ?? ''
  expect(await send(other, call)).toBe(422)
  await challenge(other)
  expect(await send(other, call)).toBe(422)
  expect(await send(one, call)).toBe(303)
  const again = createBrowser(instance)
  again.cookies.set('oncebox_passkey', cookie)
  expect(await send(again, call)).toBe(422)
  expect(instance.log.some((line) => line.includes('challenge_used'))).toBe(true)
  // A challenge that confirms does not sign in.
  const { get } = await challenge(ann, { for: 'confirm' })
  ann.cookies.delete('oncebox_session')
  expect(await send(ann, { get })).toBe(422)
  const late = createBrowser(instance)
  const old = await challenge(late)
  instance.clock.advance(5 * MINUTE)
  expect(await send(late, old)).toBe(422)
})

test('of two answers to one challenge, only one signs in', async () => {
  await start()
  await add(await signedIn())
  const browser = createBrowser(instance)
  const call = await challenge(browser)
  const answers = [key.get(call), key.get(call), key.get(call)]
  const sent = await Promise.all(
    answers.map((passkey) => browser.post('/sign-in/passkey', { passkey: JSON.stringify(passkey) })),
  )
  expect(sent.map(({ status }) => status).sort()).toEqual([303, 422, 422])
})

test('with a password the passkey is the second factor, and a recovery code works in its place', async () => {
  await start()
  const added = await add(await signedIn())
  const codes = textsIn(added.text, '#codes')[0]?.split('\n') ?? []
  const browser = createBrowser(instance)
  const { status, text } = await browser.post('/sign-in', { email: ANN, password: PASSWORD })
  expect([status, await browser.isSignedIn()]).toEqual([200, false])
  expect(text).toContain('One of your recovery codes.')
  const pending = browser.hidden(text, 'pending')
  const { get } = await challenge(browser, { pending })
  expect(get.allowCredentials).toEqual([{ type: 'public-key', id: key.made[0]?.id }])
  expect((await browser.post('/sign-in/code', { pending, code: '123456' })).status).toBe(422)
  expect((await browser.post('/sign-in/code', { pending, code: codes[0] ?? '' })).status).toBe(303)
  const other = createBrowser(instance)
  expect((await enterBeside(other)).status).toBe(303)
  expect(await other.isSignedIn()).toBe(true)
})

test('a passkey of another account does not complete a sign-in', async () => {
  await start()
  await add(await signedIn())
  await instance.addAccount(EVE)
  await add(await signedIn(EVE))
  // The last passkey is Eve's, and the password Ann's.
  const browser = createBrowser(instance)
  expect([(await enterBeside(browser)).status, await browser.isSignedIn()]).toEqual([422, false])
})

test('an authenticator app and a passkey are each a second factor; removing the app keeps the recovery codes', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  const code = () => codeOf(SECRET, instance.clock.now())
  await ann.post('/account/two-factor', { secret: SECRET, code: code(), password: PASSWORD })
  instance.clock.advance(MINUTE)
  expect(await instance.accounts().requireAccount(ANN)).toMatchObject({ hasAuthenticator: true, passkeys: 1 })
  expect((await enterBeside(createBrowser(instance))).status).toBe(303)
  const again = await signedInByCode(code())
  instance.clock.advance(MINUTE)
  expect((await again.post('/account/two-factor/off', { password: PASSWORD })).status).toBe(303)
  expect((await again.get('/account')).text).toContain('10 recovery codes')
  expect((await enter(createBrowser(instance))).status).toBe(303)
})

async function signedInByCode(code: string): Promise<Browser> {
  const browser = createBrowser(instance)
  const { text } = await browser.post('/sign-in', { email: ANN, password: PASSWORD })
  const pending = browser.hidden(text, 'pending')
  expect((await browser.post('/sign-in/code', { pending, code })).status).toBe(303)
  return browser
}

test('a counter that goes back disables the passkey for good, and the page says why', async () => {
  await start()
  const added = await add(await signedIn())
  const [code = ''] = textsIn(added.text, '#codes')[0]?.split('\n') ?? []
  for (const counter of [5, 9]) expect((await enter(createBrowser(instance), { counter })).status).toBe(303)
  const clone = createBrowser(instance)
  const refused = await enter(clone, { counter: 9 })
  expect([refused.status, await clone.isSignedIn()]).toEqual([422, false])
  expect(refused.text).toContain('may have been copied')
  // Both are refused, because the one with the higher counter may be the copy.
  expect((await enter(createBrowser(instance), { counter: 50 })).text).toContain('may have been copied')
  const browser = createBrowser(instance)
  const { text } = await browser.post('/sign-in', { email: ANN, password: PASSWORD })
  expect(text).not.toContain('data-passkey')
  expect(
    (await browser.post('/sign-in/passkey/challenge', { pending: browser.hidden(text, 'pending') })).status,
  ).toBe(409)
  const owner = await signedInByCode(code)
  expect((await owner.get('/account')).text).toContain('This passkey may have been copied')
  expect(instance.log.some((line) => line.includes('may have been copied: its counter went back'))).toBe(true)
})

test('an authenticator without a counter signs in repeatedly', async () => {
  await start()
  key = createAuthenticator({ isCounting: false })
  await add(await signedIn())
  for (let n = 0; n < 3; n += 1) expect((await enter(createBrowser(instance))).status).toBe(303)
})

test('a removed passkey signs in to nothing, and the last one takes the recovery codes with it', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  await add(ann)
  const idIn = async () =>
    ann.hidden((await ann.get('/account')).text.split('/account/passkeys/remove')[1] ?? '', 'id')
  expect((await ann.post('/account/passkeys/remove', { id: await idIn() })).status).toBe(303)
  expect((await enter(createBrowser(instance), {}, key.made[0])).status).toBe(422)
  expect((await enter(createBrowser(instance), {}, key.made[1])).status).toBe(303)
  await ann.post('/account/passkeys/remove', { id: await idIn() })
  expect(await instance.accounts().requireAccount(ANN)).toMatchObject({ passkeys: 0, hasTwoFactor: false })
  expect((await createBrowser(instance).post('/sign-in', { email: ANN, password: PASSWORD })).status).toBe(
    303,
  )
})

test("nobody removes another account's passkey", async () => {
  await start()
  await add(await signedIn())
  await instance.addAccount(EVE)
  const eve = await signedIn(EVE)
  await eve.post('/account/passkeys/remove', { id: '1' })
  expect((await instance.accounts().requireAccount(ANN)).passkeys).toBe(1)
})

test('adding and removing ask for the password again; a passkey may confirm instead', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  instance.clock.advance(11 * MINUTE)
  for (const path of ['/account/passkeys/new', '/account/passkeys/remove', '/users/token'])
    expect((await ann.post(path, { id: '1', name: 'ci' })).status).toBe(403)
  const confirm = async (lies: Lies) => {
    const passkey = JSON.stringify(key.get(await challenge(ann, { for: 'confirm' }), lies))
    return ann.post('/users/token', { name: 'ci', 'confirm-passkey': passkey })
  }
  expect((await confirm({ flags: 1 })).status).toBe(422)
  expect((await confirm({})).text).toContain('obx_')
  expect((await ann.post('/account/passkeys/new', {})).status).toBe(200)
})

test('a passkey confirms only the session that asked, and only for its own account', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  await instance.addAccount(EVE)
  const eve = await signedIn(EVE)
  await add(eve)
  instance.clock.advance(11 * MINUTE)
  const passkey = JSON.stringify(key.get(await challenge(ann, { for: 'confirm' })))
  expect((await ann.post('/users/token', { name: 'ci', 'confirm-passkey': passkey })).status).toBe(422)
  const call = await challenge(eve, { for: 'confirm' })
  ann.cookies.set('oncebox_passkey', eve.cookies.get('oncebox_passkey') ?? '')
  const stolen = JSON.stringify(key.get(call))
  expect((await ann.post('/users/token', { name: 'ci', 'confirm-passkey': stolen })).status).toBe(422)
})

test('an account has at most ten passkeys', async () => {
  await start()
  const ann = await signedIn()
  for (let n = 0; n < 10; n += 1) await add(ann, { name: `Key ${n}` })
  const { text } = await ann.get('/account')
  expect(text).toContain('at most 10 passkeys')
  expect(text).not.toContain('action="/account/passkeys/new"')
  await add(ann)
  expect((await instance.accounts().requireAccount(ANN)).passkeys).toBe(10)
})

test('a name is stored without control characters; an empty one is replaced', async () => {
  await start()
  const ann = await signedIn()
  await add(ann, { name: `  \u0007${'k'.repeat(150)}` })
  expect((await ann.get('/account')).text).toContain(`>${'k'.repeat(100)}<`)
  await add(ann, { name: ' ' })
  expect((await ann.get('/account')).text).toContain('Unknown')
})

test('one passkey is registered once', async () => {
  await start()
  const ann = await signedIn()
  const call = await challenge(ann, { for: 'add' })
  const passkey = JSON.stringify(key.create(call))
  const cookie = ann.cookies.get('oncebox_passkey') ?? ''
  expect((await ann.post('/account/passkeys', { passkey })).status).toBe(200)
  ann.cookies.set('oncebox_passkey', cookie)
  expect((await ann.post('/account/passkeys', { passkey })).status).toBe(422)
})

test('the first passkey ends the other sessions, and shows the recovery codes', async () => {
  await start()
  const [ann, other] = [await signedIn(), await signedIn()]
  await add(ann)
  expect([await ann.isSignedIn(), await other.isSignedIn()]).toEqual([true, false])
  expect((await add(ann)).location).toBe('/account?done=passkey#passkeys')
})

test('after a password change, a passkey signs in by itself only once it was used together with the new password', async () => {
  await start()
  const ann = await signedIn()
  await add(ann)
  await ann.post('/account/password', { current: PASSWORD, password: NEXT, revoke: 'true' })
  const browser = createBrowser(instance)
  const alone = await enter(browser)
  expect([alone.status, await browser.isSignedIn()]).toEqual([422, false])
  expect(alone.text).toContain('Use this passkey once beside the new password')
  expect((await enterBeside(browser, { password: NEXT })).status).toBe(303)
  expect((await enter(createBrowser(instance))).status).toBe(303)
})

test('a passkey meets --require-second-factor, and can be the first one', async () => {
  await start({ 'require-second-factor': 'true' })
  const ann = await signedIn()
  expect((await ann.get('/account')).location).toBe('/account/two-factor')
  expect((await ann.get('/account/two-factor')).text).toContain('action="/account/passkeys/new"')
  expect((await ann.post('/account/passkeys/new', {})).status).toBe(200)
  await add(ann)
  expect((await ann.get('/account')).status).toBe(200)
  const other = createBrowser(instance)
  await enter(other)
  expect((await other.get('/account')).status).toBe(200)
})

test.each([
  ['no base URL', null],
  ['plain http', 'http://once.example'],
  ['an IP address', 'https://192.0.2.7'],
  ['an IPv6 address', 'https://[2001:db8::7]'],
  ['loopback by address', 'http://127.0.0.1:5100'],
])('with %s no passkey is offered, and the account page says why', async (_name, base) => {
  instance = await startInstance({ flags: base === null ? {} : { 'base-url': base } })
  await instance.addAccount(ANN)
  const host = base === null ? 'localhost' : new URL(base).host
  const browser = createBrowser(instance)
  const get = (path: string, method = 'GET') => browser.get(path, { method, headers: { host } })
  expect((await get('/sign-in')).text).not.toContain('passkey')
  expect((await get('/sign-in/passkey/challenge', 'POST')).status).toBe(405)
  const { extensions } = await (await instance.fetch('/api/v2/version')).json()
  expect(extensions.sign_in).toEqual(['password'])
  const headers = { 'content-type': 'application/x-www-form-urlencoded', host }
  const body = new URLSearchParams({ email: ANN, password: PASSWORD }).toString()
  await browser.get('/sign-in', { method: 'POST', headers, body })
  const { text } = await get('/account')
  expect(text).toContain('they need https and a host name')
  expect(text).not.toContain('/account/passkeys/new')
})

test('a renamed server shows its lost passkeys, and lets their owner remove them', async () => {
  await start()
  const added = await add(await signedIn())
  const [code = ''] = textsIn(added.text, '#codes')[0]?.split('\n') ?? []
  alterDatabase(instance.dataDir, "UPDATE passkeys SET rp_id = 'former.example'")
  const ann = await signedInByCode(code)
  const { text } = await ann.get('/account')
  expect(text).toContain('belongs to the address former.example')
  // A lying authenticator signs for any host name.
  expect((await enter(createBrowser(instance))).status).toBe(422)
  expect((await ann.post('/account/passkeys/remove', { id: '1' })).status).toBe(303)
  expect((await instance.accounts().requireAccount(ANN)).hasTwoFactor).toBe(false)
})

test('a disabled account cannot be signed in to until it is enabled again', async () => {
  await start()
  await add(await signedIn())
  await instance.accounts().disableAccount(ANN)
  expect((await enter(createBrowser(instance))).status).toBe(422)
  await instance.accounts().enableAccount(ANN)
  expect((await enter(createBrowser(instance))).status).toBe(303)
})

test('`oncebox user two-factor-off` and a removed account end the passkeys', async () => {
  await start()
  await add(await signedIn())
  await instance.accounts().turnOffTwoFactor(ANN)
  expect((await enter(createBrowser(instance))).status).toBe(422)
  expect(await instance.accounts().requireAccount(ANN)).toMatchObject({ passkeys: 0, hasTwoFactor: false })
  await add(await signedIn())
  await instance.accounts().removeAccount(ANN)
  expect((await enter(createBrowser(instance))).status).toBe(422)
})

test('a challenge of an ended session is refused in a later one, also of another account', async () => {
  await start()
  await instance.addAccount(EVE)
  const ann = await signedIn()
  const call = await challenge(ann, { for: 'add' })
  const cookie = ann.cookies.get('oncebox_passkey') ?? ''
  await ann.post('/sign-out', {})
  for (const email of [ANN, EVE]) {
    const later = await signedIn(email)
    later.cookies.set('oncebox_passkey', cookie)
    const passkey = JSON.stringify(key.create(call))
    expect((await later.post('/account/passkeys', { passkey })).status).toBe(422)
    await later.post('/sign-out', {})
  }
})

test('wrong passwords and codes from other addresses do not lock a passkey', async () => {
  await start()
  await add(await signedIn())
  instance.clock.advance(DAY)
  const guess = (n: number, path: string, fields: Record<string, string>) => {
    const fetch: typeof instance.fetch = (asked, init) =>
      instance.fetch(asked, { ...init, from: `198.51.100.${n % 15}` })
    return createBrowser({ fetch }).post(path, fields)
  }
  for (let n = 0; n < 100; n += 1) await guess(n, '/sign-in', { email: ANN, password: 'wrong one' })
  expect((await guess(0, '/sign-in', { email: ANN, password: PASSWORD })).status).toBe(429)
  expect((await enter(createBrowser(instance))).status).toBe(303)
  // A person who knows the password may try codes.
  const { text } = await createBrowser(instance).post('/sign-in', { email: ANN, password: PASSWORD })
  const pending = createBrowser(instance).hidden(text, 'pending')
  const codes: number[] = []
  for (let n = 0; n < 11; n += 1)
    codes.push((await guess(n, '/sign-in/code', { pending, code: '000000' })).status)
  expect(codes.at(-1)).toBe(429)
  expect((await enterBeside(createBrowser(instance))).status).toBe(303)
})

test('too many wrong passkeys from one address answer 429; a right one still signs in', async () => {
  await start()
  await add(await signedIn())
  const statuses: number[] = []
  for (let n = 0; n < 12; n += 1) statuses.push((await enter(createBrowser(instance), { flags: 1 })).status)
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(422))
  expect(statuses.slice(10)).toEqual([429, 429])
  expect((await enter(createBrowser(instance))).status).toBe(303)
})

test('if only the provider checks passwords, a passkey is just a second factor', async () => {
  const oidc = { 'oidc-issuer': 'https://id.example', 'oidc-client-id': 'x' }
  await start({ ...oidc, 'password-sign-in': 'admin', 'break-glass': 'glass@example.org' })
  await instance.addAccount(ROOT, { isAdmin: true })
  await instance.addAccount('glass@example.org')
  const { extensions } = await (await instance.fetch('/api/v2/version')).json()
  expect(extensions.sign_in).toEqual(['password', 'oidc', 'passkey'])
  const root = await signedIn(ROOT)
  await add(root)
  expect((await enter(createBrowser(instance))).status).toBe(303)
  // The emergency account always needs its password.
  await add(await signedIn('glass@example.org'))
  expect((await enter(createBrowser(instance))).status).toBe(422)
  await instance.accounts().makeAdmin(ANN)
  await add(await signedIn())
  await instance.accounts().unmakeAdmin(ANN)
  expect((await enter(createBrowser(instance))).status).toBe(422)
})

test('without JavaScript the sign-in page does not mention passkeys', async () => {
  await start()
  const { text } = await createBrowser(instance).get('/sign-in')
  expect(text).toMatch(
    /<form method="post" action="\/sign-in\/passkey" hidden data-passkey="\/sign-in\/passkey\/challenge"/,
  )
})

test('a challenge is requested by POST from this site only, so no URL contains a pending sign-in', async () => {
  await start()
  const browser = createBrowser(instance)
  const asked = await browser.get('/sign-in/passkey/challenge')
  expect([asked.location, browser.cookies.has('oncebox_passkey')]).toEqual(['/sign-in', false])
  const headers = { origin: 'https://elsewhere.example' }
  const foreign = await browser.get('/sign-in/passkey/challenge', { method: 'POST', headers })
  expect([foreign.status, browser.cookies.has('oncebox_passkey')]).toEqual([403, false])
})
