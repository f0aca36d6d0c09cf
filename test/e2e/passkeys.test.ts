// Passkeys in a browser, with its virtual authenticator, against the binary.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { prepareAxe } from '../support/axe.ts'
import { type Started, startBinary } from '../support/binary.ts'
import { launchBrowser, plugInAuthenticator, type Watched, watch } from '../support/chromium.ts'
import { alterDatabase } from '../support/damage.ts'
import { freePort } from '../support/free-port.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { PASSWORD, signIn } from '../support/tour.ts'

needs('chromium').describe('a passkey', () => {
  let browser: Browser
  let server: Started
  let base: string
  let accounts = 0
  let context: BrowserContext
  let page: Page
  let client: CDPSession
  let device: string
  let watched: Watched
  let email: string

  beforeAll(async () => {
    const port = freePort()
    base = `http://localhost:${port}`
    server = await startBinary({ flags: ['--port', String(port), '--base-url', base] })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.end()
  })
  beforeEach(async () => {
    accounts += 1
    email = `ann${accounts}@example.org`
    await server.command(['user', 'add', email, '--password-stdin'], PASSWORD)
    context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce' })
    watched = watch(context, base)
    page = await context.newPage()
    client = await context.newCDPSession(page)
    device = await plugIn()
    return async () => {
      await context.close()
      expect(watched.outside).toEqual([])
      expect(watched.complaints.filter((text) => !/status of (4\d\d)/.test(text))).toEqual([])
    }
  })

  const plugIn = () => plugInAuthenticator(client)

  async function listKeys() {
    return (await client.send('WebAuthn.getCredentials', { authenticatorId: device })).credentials
  }

  /** Adds a passkey by keyboard, and returns the recovery codes. */
  async function add(): Promise<string[]> {
    await signIn(page, base, email)
    await page.goto(`${base}/account`)
    const button = page.locator('#passkeys form[action$="/new"] button')
    await button.focus()
    await follow(page, () => page.keyboard.press('Enter'))
    await page.fill('#name', 'My laptop')
    await follow(page, () => page.keyboard.press('Enter'))
    return (await page.textContent('#codes'))?.split('\n') ?? []
  }

  async function forget(): Promise<void> {
    await context.clearCookies()
    await page.goto(`${base}/sign-in`)
  }

  const alone = () => page.locator('form[action$="/sign-in/passkey"] button')

  async function expectNoFaults(): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 320, height: 640 })
      const findFaults = await prepareAxe(client)
      expect(await findFaults()).toEqual([])
      const { scrollWidth, offsetWidth } = await page.evaluate(() => document.documentElement)
      expect(scrollWidth ?? 0).toBeLessThanOrEqual(offsetWidth ?? 0)
    }
  }

  test('is added by keyboard, signs in alone, and is listed with its last use', async () => {
    expect(await add()).toHaveLength(10)
    expect(await listKeys()).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }])
    await forget()
    await alone().focus()
    await follow(page, () => page.keyboard.press('Enter'))
    expect(new URL(page.url()).pathname).toBe('/')
    await page.goto(`${base}/account`)
    const row = await page.textContent('#passkeys li')
    expect(row).toContain('My laptop')
    expect(row).toContain('Last used')
  })

  test('is the second factor after the password', async () => {
    await add()
    await context.clearCookies()
    await page.goto(`${base}/sign-in?next=/pushes`)
    await page.fill('#email', email)
    await page.fill('#password', PASSWORD)
    await follow(page, () => page.click('main button.primary'))
    expect(await page.textContent('h1')).toBe('One more step')
    await expectNoFaults()
    await follow(page, () => alone().click())
    expect(page.url()).toBe(`${base}/pushes`)
  })

  test('is refused after a copy of it was used, and the page says why', async () => {
    await add()
    const [key] = await listKeys()
    if (key === undefined) throw new Error('there is no passkey')
    for (let n = 0; n < 2; n += 1) {
      await forget()
      await follow(page, () => alone().click())
    }
    // The counter of the copy begins where the original's was when it was copied.
    await client.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device })
    device = await plugIn()
    await client.send('WebAuthn.addCredential', { authenticatorId: device, credential: key })
    await forget()
    await follow(page, () => alone().click())
    expect(await page.textContent('.notice.bad')).toContain('may have been copied')
    await page.waitForFunction(() => document.activeElement?.classList.contains('notice'))
  })

  test('that the device has lost is not found, and a recovery code signs in instead', async () => {
    const [code = ''] = await add()
    const [key] = await listKeys()
    await client.send('WebAuthn.removeCredential', {
      authenticatorId: device,
      credentialId: key?.credentialId ?? '',
    })
    await forget()
    await alone().click()
    await page.locator('[role=status]', { hasText: 'Your browser did not get a passkey' }).waitFor()
    await page.fill('#email', email)
    await page.fill('#password', PASSWORD)
    await follow(page, () => page.click('main button.primary'))
    await page.fill('#code', code)
    await follow(page, () => page.click('form[action$="/sign-in/code"] button'))
    expect(new URL(page.url()).pathname).toBe('/')
  })

  test('does not sign in if the device does not recognise its owner', async () => {
    await add()
    await forget()
    await client.send('WebAuthn.setUserVerified', { authenticatorId: device, isUserVerified: false })
    await alone().click()
    await page.locator('[role=status]', { hasText: 'Your browser did not get a passkey' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  test('confirms actions that would ask for the password again', async () => {
    await add()
    alterDatabase(server.dataDir, 'UPDATE sessions SET confirmed_at = 0')
    await page.goto(`${base}/account`)
    await follow(page, () => page.click('#passkeys li button'))
    expect(await page.textContent('h1')).toBe('Confirm that it is you')
    await expectNoFaults()
    await follow(page, () => page.click('main form[data-passkey] button'))
    expect(new URL(page.url()).pathname).toBe('/account')
    expect(await page.locator('#passkeys li').count()).toBe(0)
  })

  test('has a button without faults, and none at another address or without scripts', async () => {
    await page.goto(`${base}/sign-in`)
    expect(await alone().isVisible()).toBe(true)
    await expectNoFaults()
    await page.goto(`${server.url.replace('localhost', '127.0.0.1')}/sign-in`)
    expect(await alone().isVisible()).toBe(false)
    const unscripted = await browser.newContext({ javaScriptEnabled: false })
    const plain = await unscripted.newPage()
    await plain.goto(`${base}/sign-in`)
    expect(await plain.locator('form[action$="/sign-in/passkey"]').isVisible()).toBe(false)
    await unscripted.close()
  })

  test('can be added on pages without faults, which say what they need', async () => {
    await signIn(page, base, email)
    await page.goto(`${base}/account`)
    await expectNoFaults()
    await follow(page, () => page.locator('#passkeys form[action$="/new"] button').click())
    await page.locator('#name').waitFor()
    await expectNoFaults()
    expect(await page.locator('[data-passkey-needs]').isVisible()).toBe(false)
    await follow(page, () => page.locator('main form[data-passkey] button').click())
    await expectNoFaults()
    await page.goto(`${base}/account`)
    await expectNoFaults()
  })
})
