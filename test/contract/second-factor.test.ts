// Signing in with a second factor: which codes are accepted, and what remains when the factor is turned off
// or damaged.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { MINUTE } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'
import { alterDatabase } from '../support/damage.ts'
import { attributesIn, textsIn, valueIn } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { codeOf } from '../support/tour.ts'
import { welcomePathIn } from './pages/pages.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

let api: Api
let people: People
let bob: Person
/** Matches ten recovery codes. */
let recovery: string[]
beforeEach(async () => {
  api = await startApi()
  people = createPeople(api)
  await api.addAccount(ANN, { isAdmin: true })
  await api.addAccount(BOB)
  bob = await people.signIn(BOB)
  recovery = await turnOn()
  api.clock.advance(MINUTE)
})
afterEach(() => api.close())

async function turnOn(): Promise<string[]> {
  const { text } = await bob.post('/account/two-factor', {
    secret: SECRET,
    code: codeOf(SECRET, api.clock.now()),
    password: people.password,
  })
  return (textsIn(text, '#codes')[0] ?? '').split('\n')
}

const hasTwoFactor = async () => (await api.accounts().requireAccount(BOB)).hasTwoFactor
const appCode = () => codeOf(SECRET, api.clock.now())
const codeAt = (index: number) => recovery[index] ?? ''

/** Sends the password, then the code. Resolves to the status of the second response. */
async function signIn(code: string, password = people.password): Promise<number> {
  const { text } = await people.post('/sign-in', { email: BOB, password })
  const pending = valueIn(text, 'pending')
  const answer = await people.post('/sign-in/code', { pending, code })
  expect(answer.headers.has('set-cookie')).toBe(answer.status === 303)
  return answer.status
}

test('a password alone opens no session', async () => {
  const answer = await people.post('/sign-in', { email: BOB, password: people.password })
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null])
})

test('a code of the app works once; a recovery code works once, and leaves the others valid', async () => {
  expect(recovery).toHaveLength(10)
  const code = appCode()
  expect([await signIn(code), await signIn(code)]).toEqual([303, 422])
  expect([await signIn(codeAt(3)), await signIn(codeAt(3)), await signIn(codeAt(4))]).toEqual([303, 422, 303])
  expect((await bob.get('/account')).text).toContain('8 recovery codes')
  expect(await hasTwoFactor()).toBe(true)
})

test('if the secret cannot be decrypted, recovery codes work and codes of the app do not', async () => {
  alterDatabase(
    api.dataDir,
    `UPDATE accounts SET totp_secret = zeroblob(length(totp_secret)) WHERE email = '${BOB}'`,
  )
  expect(await signIn(appCode())).toBe(422)
  expect(await signIn(codeAt(0))).toBe(303)
  expect(
    api.log.filter((line) => /damaged on disk: the second factor of account \d+ /.test(line)),
  ).toHaveLength(1)
})

test('once the factor is off, no code is accepted, not even one left in the database', async () => {
  const hashes = 'CREATE TABLE kept AS SELECT account_id, hash FROM recovery_codes'
  alterDatabase(api.dataDir, hashes)
  // The password was sent while the factor was on; the code arrives after it was turned off.
  const { text } = await people.post('/sign-in', { email: BOB, password: people.password })
  const pending = valueIn(text, 'pending')
  await api.accounts().turnOffTwoFactor(BOB)
  alterDatabase(
    api.dataDir,
    'INSERT INTO recovery_codes (account_id, hash) SELECT account_id, hash FROM kept',
  )
  expect((await people.post('/sign-in/code', { pending, code: codeAt(0) })).status).toBe(422)
  expect(await hasTwoFactor()).toBe(false)
  expect((await people.post('/sign-in', { email: BOB, password: people.password })).status).toBe(303)
})

test('turning the factor off deletes its recovery codes; turning it on makes new ones', async () => {
  const old = recovery
  const given = { password: people.password, code: appCode() }
  expect((await bob.post('/account/two-factor/off', given)).status).toBe(303)
  expect(await hasTwoFactor()).toBe(false)
  api.clock.advance(MINUTE)
  recovery = await turnOn()
  api.clock.advance(MINUTE)
  expect(await hasTwoFactor()).toBe(true)
  expect(old.filter((code) => recovery.includes(code))).toEqual([])
  expect([await signIn(old[0] ?? ''), await signIn(codeAt(0))]).toEqual([422, 303])
})

test.each([
  [false, '/sign-in', true],
  [true, '/', false],
])('a reset link that ends the second factor: %p', async (ends, location, stays) => {
  const ann = await people.signIn(ANN)
  const path = `/admin/accounts/${(await api.accounts().requireAccount(BOB)).id}/reset`
  const { text } = await ann.post(path, ends ? { two_factor: 'true' } : {})
  const link = welcomePathIn(text)
  const used = await people.post(link, { password: 'another long password' })
  expect([used.status, used.headers.get('location')]).toEqual([303, location])
  expect(used.headers.has('set-cookie')).toBe(ends)
  expect(await hasTwoFactor()).toBe(stays)
  if (stays) expect(await signIn(codeAt(0), 'another long password')).toBe(303)
})

test('an account disabled between password and code is refused', async () => {
  const { text } = await people.post('/sign-in', { email: BOB, password: people.password })
  const pending = valueIn(text, 'pending')
  await api.accounts().disableAccount(BOB)
  expect((await people.post('/sign-in/code', { pending, code: codeAt(0) })).status).toBe(422)
  expect((await people.post('/sign-in', { email: BOB, password: people.password })).status).toBe(422)
})

test('a reload offers the same secret; another browser, or a try an hour later, gets a new one', async () => {
  const ann = await people.signIn(ANN)
  const offered = async (by = ann) => valueIn((await by.get('/account/two-factor')).text, 'secret')
  const secret = await offered()
  expect(secret).toHaveLength(32)
  expect(await offered()).toBe(secret)
  expect(await offered(await people.signIn(ANN))).not.toBe(secret)
  api.clock.advance(60 * MINUTE)
  expect(await offered()).not.toBe(secret)
})

test('a secret that was in use is never offered again', async () => {
  const ann = await people.signIn(ANN)
  const offer = async () => valueIn((await ann.get('/account/two-factor')).text, 'secret')
  const secret = await offer()
  const given = { secret, code: codeOf(secret, api.clock.now()), password: people.password }
  expect((await ann.post('/account/two-factor', given)).text).toContain('id="codes"')
  expect((await ann.post('/account/two-factor/off', { password: people.password })).status).toBe(303)
  expect(await offer()).not.toBe(secret)
})

test('the key opens in an app of the same device, and the recovery codes are saved as a file', async () => {
  await bob.post('/account/two-factor/off', { password: people.password })
  const page = (await bob.get('/account/two-factor')).text
  const [key = ''] = textsIn(page, '#secret')
  const [link = ''] = attributesIn(page, '.actions a', 'href')
  expect(new URL(link).searchParams.get('secret')).toBe(key.replaceAll(' ', ''))
  expect(link).toStartWith('otpauth://totp/')
  const made = await bob.post('/account/two-factor', {
    ...{ secret: SECRET, password: people.password },
    code: codeOf(SECRET, api.clock.now()),
  })
  const [file = ''] = attributesIn(made.text, 'a[download]', 'href')
  expect(await (await fetch(file)).text()).toBe(`${textsIn(made.text, '#codes')[0]}\n`)
})
