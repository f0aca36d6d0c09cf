// An opened push and a new secret link in a real browser: what is hidden, copied, saved, sent and shared.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser, skipBrowserTests } from '../support/chromium.ts'
import { follow, hear } from '../support/pressing.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'
import { waitUntil } from '../support/waiting.ts'
import { readZip } from '../support/zip.ts'

const SCRIPTED: BrowserContextOptions = { permissions: ['clipboard-read', 'clipboard-write'] }
const UNSCRIPTED: BrowserContextOptions = { javaScriptEnabled: false }
const PHONE: BrowserContextOptions = { ...SCRIPTED, viewport: { width: 320, height: 640 }, hasTouch: true }
const MODES: [string, BrowserContextOptions][] = [
  ['with scripts', SCRIPTED],
  ['without scripts', UNSCRIPTED],
  ['on a phone', PHONE],
]

const FAILED = 'Not copied: select it and press Ctrl+C'

describe.skipIf(skipBrowserTests)('in a browser', () => {
  const stage = createStage()
  let browser: Browser
  let server: Started
  let headers: { authorization: string }
  const visitors = createVisitors()

  beforeAll(async () => {
    server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const token = (await server.command(['token', 'create', MEMBER])).stdout.trim()
    headers = { authorization: `Bearer ${token}` }
    browser = await launchBrowser()
  })

  afterEach(async () => {
    expect(await visitors.leave()).toEqual({ outside: [], complaints: [] })
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  const visit = (options: BrowserContextOptions): Promise<Page> => visitors.open(browser, server.url, options)

  async function create(push: object): Promise<{ html_url: string; url_token: string }> {
    const response = await fetch(`${server.url}/api/v2/pushes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ push }),
    })
    expect(response.status).toBe(201)
    return response.json()
  }

  async function openOn(page: Page, push: object): Promise<void> {
    await page.goto((await create(push)).html_url)
    await follow(page, () => page.click('main form button.primary'))
    await page.waitForSelector('.secret')
  }

  const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()')

  test.each(MODES)('a password is dots until the eye is pressed, %s', async (_name, options) => {
    const page = await visit(options)
    await openOn(page, { payload: 'k3m9-qx2v', expire_after_views: 1 })
    expect(await page.isVisible('#payload')).toBe(false)
    expect(await page.textContent('.dots')).toBe('•'.repeat(12))
    expect(await page.textContent('.notice.last')).toBe(
      'This was the last time it could be opened. Copy it now.',
    )
    if (options.javaScriptEnabled !== false) {
      expect((await hear(page.locator('button.primary[data-copies=payload]'))).label).toBe('Copied')
      expect(await clipboard(page)).toBe('k3m9-qx2v')
      expect(await page.isVisible('#payload')).toBe(false)
    }
    await page.click('.field-of-dots > summary')
    await page.waitForSelector('#payload', { state: 'visible' })
    expect(await page.textContent('#payload')).toBe('k3m9-qx2v')
    await page.click('.field-of-dots > summary')
    await page.waitForSelector('#payload', { state: 'hidden' })
  })

  test.each(MODES)('a message is open at once, %s', async (_name, options) => {
    const page = await visit(options)
    await openOn(page, { payload: 'The code is 4711. Please close the door.' })
    expect(await page.isVisible('#payload')).toBe(true)
    expect(await page.textContent('.remaining')).toContain('4 more views')
  })

  test('a line that names what it holds gives its value away alone', async () => {
    const payload = 'user: ann\npassword: k3m9 qx2v'
    const page = await visit(SCRIPTED)
    await openOn(page, { payload })
    expect((await hear(page.getByRole('button', { name: 'Copy password' }))).isDone).toBe(true)
    expect(await clipboard(page)).toBe('k3m9 qx2v')
    expect(await page.textContent('#payload')).toBe(payload)
  })

  test('a line that cannot be copied says so', async () => {
    const page = await visit(SCRIPTED)
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false',
    )
    await openOn(page, { payload: 'one\ntwo' })
    const said = await hear(page.getByRole('button', { name: 'Copy line 2' }))
    expect(said).toMatchObject({ told: FAILED, isTold: true, isDone: false })
  })

  test.each(MODES)('a text is saved as a file, exactly, %s', async (_name, options) => {
    const payload = 'one\r\ntwo 🔑\n'
    const page = await visit(options)
    await openOn(page, { payload, expire_after_views: 1 })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('secret.txt')
    expect(readFileSync(await download.path(), 'utf8')).toBe(payload)
    expect(await page.isVisible('.secret')).toBe(true)
  })

  test.each(MODES)('all files are saved at once, %s', async (_name, options) => {
    const files = ['first.txt', 'zweite – “2”.txt'].map((filename) => ({
      filename,
      data: Buffer.from(`of ${filename}`).toString('base64'),
    }))
    const page = await visit(options)
    await openOn(page, { payload: 'Here they are.', files })
    expect(await page.textContent('main')).toMatch(/Files can be saved until \d\d:\d\d/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save all' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('oncebox-files.zip')
    const entries = readZip(readFileSync(await download.path()))
    expect(entries.map(({ name, content }) => [name, content.toString()])).toEqual([
      ['first.txt', 'of first.txt'],
      ['zweite – “2”.txt', 'of zweite – “2”.txt'],
    ])
  })

  test.each(MODES)(
    'an address opens in a tab that does not know where it comes from, %s',
    async (_, options) => {
      const page = await visit(options)
      const target = `${server.url}/up`
      await openOn(page, { kind: 'url', payload: target })
      const [tab] = await Promise.all([page.waitForEvent('popup'), page.click('.secret a.primary')])
      await tab.waitForURL(target)
      expect(await page.isVisible('.secret')).toBe(true)
      if (options.javaScriptEnabled !== false)
        expect(await tab.evaluate('[document.referrer, opener]')).toEqual(['', null])
    },
  )

  test('the message is edited, copied, sent and shared', async () => {
    const page = await visit(SCRIPTED)
    await page.addInitScript('navigator.share = async (data) => { window.shared = data }')
    const { html_url, url_token } = await create({ payload: 'x' })
    await page.goto(`${server.url}/p/${url_token}/preview`)
    await page.fill('#message', `Für dich & mich:\n${html_url}`)
    const mail = new URL((await page.getAttribute('[data-mails]', 'href')) ?? '')
    expect(mail.protocol).toBe('mailto:')
    expect(mail.searchParams.get('body')).toBe(`Für dich & mich:\r\n${html_url}`)
    expect(mail.searchParams.get('subject')).toBe('I am sharing something with you')
    expect((await hear(page.getByRole('button', { name: 'Copy message' }))).label).toBe('Copied')
    expect(await clipboard(page)).toBe(`Für dich & mich:\n${html_url}`)
    await page.getByRole('button', { name: 'Share' }).click()
    await waitUntil(async () => (await page.evaluate('window.shared')) !== undefined)
    expect(await page.evaluate('window.shared')).toEqual({ text: `Für dich & mich:\n${html_url}` })
    expect((await hear(page.getByRole('button', { name: 'Copy link' }))).isDone).toBe(true)
    expect(await clipboard(page)).toBe(html_url)
  })

  test('where a browser cannot share, no button says that it can', async () => {
    const page = await visit(SCRIPTED)
    await page.addInitScript('Object.defineProperty(navigator, "share", { value: undefined })')
    await page.goto(`${server.url}/p/${(await create({ payload: 'x' })).url_token}/preview`)
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    expect(await page.isVisible('[data-shares]')).toBe(false)
  })

  test('the QR code stands beside the link on a desk, and below it on a phone', async () => {
    const { url_token } = await create({ payload: 'x' })
    const placesOn = async (options: BrowserContextOptions) => {
      const page = await visit(options)
      await page.goto(`${server.url}/p/${url_token}/preview`)
      const [link, code] = await Promise.all([
        page.locator('#link').boundingBox(),
        page.locator('svg.qr').boundingBox(),
      ])
      return {
        right: (code?.x ?? 0) > (link?.x ?? 0) + (link?.width ?? 0),
        below: (code?.y ?? 0) > (link?.y ?? 0) + 100,
      }
    }
    expect(await placesOn(SCRIPTED)).toEqual({ right: true, below: false })
    expect(await placesOn(PHONE)).toEqual({ right: false, below: true })
  })

  test.each(MODES.slice(0, 2))('an account has a message of its own, %s', async (_name, options) => {
    const page = await visit(options)
    await signIn(page, server.url, MEMBER)
    await page.goto(`${server.url}/account/message`)
    await page.fill('#message', 'Hi! {link}\n({views}, until {expires})')
    if (options.javaScriptEnabled !== false)
      expect(await page.textContent('[data-previews]')).toMatch(/^Hi! http\S+\n\(5 views, until .*UTC\)$/)
    await follow(page, () => page.click('main form button.primary'))
    await page.waitForSelector('.notice.good')
    expect(await page.textContent('[data-previews]')).toMatch(/^Hi! http\S+\n\(5 views, until .*UTC\)$/)
    const { html_url, url_token } = await create({ payload: 'x', expire_after_views: 3 })
    await page.goto(`${server.url}/p/${url_token}/preview`)
    expect(await page.inputValue('#message')).toStartWith(`Hi! ${html_url}\n(3 views, until `)
    await page.goto(`${server.url}/account/message`)
    await follow(page, () => page.getByRole('button', { name: 'Use the standard message' }).click())
    await page.waitForSelector('.notice.good')
    expect(await page.inputValue('#message')).toContain('I am sharing something with you')
  })
})
