// Passkeys of people whom a provider or a proxy signs in.

import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MINUTE } from '../../../src/domain/time.ts'
import { createTestClock, startInstance, type TestInstance } from '../../support/instance.ts'
import {
  type Browser,
  createBrowser,
  flagsFor,
  type LyingProvider,
  signInBy,
  startLyingProvider,
} from '../../support/lying-provider.ts'
import { askChallenge, createAuthenticator } from '../../support/software-authenticator.ts'

const ANN = 'ann@example.org'

let instance: TestInstance
let provider: LyingProvider | null = null
let folder: string | null = null
const key = createAuthenticator()

afterEach(async () => {
  await instance.close()
  await provider?.close()
  if (folder !== null) rmSync(folder, { recursive: true, force: true })
  provider = null
  folder = null
})

async function startWithProvider(flags: Record<string, string> = {}) {
  const started = await startLyingProvider()
  provider = started
  instance = await startInstance({
    flags: { ...flagsFor(started), ...flags },
    clock: createTestClock(Date.now()),
  })
  return started
}

const linkIn = (text: string) =>
  /href="(\/sign-in\/oidc[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'none'
const sign = async (browser: Browser, fields: Record<string, string> = {}) =>
  JSON.stringify(key.get(await askChallenge(browser, fields)))

async function add(browser: Browser) {
  const passkey = JSON.stringify(key.create(await askChallenge(browser, { for: 'add' })))
  return browser.post('/account/passkeys', { passkey })
}

test('after a sign-in at the provider the passkey is required, and it does not sign in by itself', async () => {
  const { issuer } = await startWithProvider({ 'require-second-factor': 'true' })
  const ann = createBrowser(instance)
  await signInBy({ ...(provider as LyingProvider), issuer }, ann)
  expect((await ann.get('/account')).location).toBe('/account/two-factor')
  // A new session may set up its first factor, because nothing could confirm it.
  expect((await ann.post('/account/passkeys/new', {})).status).toBe(200)
  expect((await add(ann)).text).toContain('id="codes"')
  const again = createBrowser(instance)
  const asked = await signInBy(provider as LyingProvider, again)
  expect([asked.status, again.cookies.has('oncebox_session')]).toEqual([200, false])
  const pending = again.hidden(asked.text, 'pending')
  const passkey = await sign(again, { pending })
  expect((await again.post('/sign-in/passkey', { pending, passkey })).status).toBe(303)
  expect(await again.isSignedIn()).toBe(true)
  // A person who was removed at the provider must not be signed in.
  const alone = createBrowser(instance)
  const refused = await alone.post('/sign-in/passkey', { passkey: await sign(alone) })
  expect([refused.status, await alone.isSignedIn()]).toEqual([422, false])
  expect(instance.log.some((line) => line.includes('passkey_not_alone'))).toBe(true)
})

test('a provider without auth_time is accepted together with a passkey', async () => {
  await startWithProvider()
  const ann = createBrowser(instance)
  await signInBy(provider as LyingProvider, ann)
  await add(ann)
  instance.clock.advance(11 * MINUTE)
  const asked = await ann.post('/users/token', { name: 'ci' })
  expect(asked.text).not.toContain('data-passkey')
  // Without the provider the passkey confirms nothing.
  const early = await sign(ann, { for: 'confirm' })
  expect((await ann.post('/users/token', { name: 'ci', 'confirm-passkey': early })).status).toBe(403)
  const path = linkIn(asked.text)
  const waiting = await signInBy(provider as LyingProvider, ann, { path, claims: { auth_time: undefined } })
  expect(waiting.text).toContain('data-passkey')
  const pending = ann.hidden(waiting.text, 'pending')
  const other = JSON.stringify(key.get(await askChallenge(ann, { for: 'confirm' }), { flags: 1 }))
  expect((await ann.post('/sign-in/oidc', { pending, passkey: other })).status).toBe(422)
  const passkey = await sign(ann, { for: 'confirm' })
  expect((await ann.post('/sign-in/oidc', { pending, passkey })).location).toBe('/users/token')
  expect((await ann.post('/users/token', { name: 'ci' })).text).toContain('obx_')
})

test('behind a proxy, the passkey is a second factor after the header, and also confirms sensitive actions', async () => {
  folder = mkdtempSync(join(tmpdir(), 'oncebox-header-'))
  const file = join(folder, 'secret')
  writeFileSync(file, 'a-secret-of-the-proxy\n')
  instance = await startInstance({
    flags: {
      ...{ 'auth-header': 'Remote-Email', 'auth-header-secret-file': file },
      'base-url': 'http://localhost',
    },
    clock: createTestClock(Date.now()),
  })
  const by = { 'remote-email': ANN, 'x-oncebox-proxy-secret': 'a-secret-of-the-proxy' }
  const behindProxy = () =>
    createBrowser({
      fetch: (path, init) => instance.fetch(path, { ...init, headers: { ...by, ...init?.headers } as never }),
    })
  const ann = behindProxy()
  expect((await ann.get('/sign-in/header')).status).toBe(303)
  expect((await add(ann)).status).toBe(200)
  const again = behindProxy()
  const asked = await again.get('/sign-in/header')
  expect(asked.status).toBe(200)
  const pending = again.hidden(asked.text, 'pending')
  const passkey = await sign(again, { pending })
  expect((await again.post('/sign-in/passkey', { pending, passkey })).status).toBe(303)
  expect((await again.post('/users/token', { name: 'ci' })).status).toBe(403)
  const confirming = { name: 'ci', 'confirm-passkey': await sign(again, { for: 'confirm' }) }
  expect((await again.post('/users/token', confirming)).text).toContain('obx_')
})
