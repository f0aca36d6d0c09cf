// The form that creates a push, in a real browser, when its answer is lost, when it is sent twice, and when
// its session ends.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser } from '../support/chromium.ts'
import { SUBMIT } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'

const UNSCRIPTED: BrowserContextOptions = { javaScriptEnabled: false }

/** A proxy that can drop responses to forms: it forwards the request and breaks off at the response. */
async function startWire(port: number) {
  let losesAnswers = false
  const wire = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    let isForm = false
    client.on('data', (bytes) => {
      isForm = isForm || bytes.toString('latin1').startsWith('POST ')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (losesAnswers && isForm) client.destroy()
      else client.write(bytes)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve))
  const { port: own } = wire.address() as AddressInfo
  return {
    url: `http://localhost:${own}`,
    loseAnswers: (loses: boolean) => {
      losesAnswers = loses
    },
    close: () => wire.close(),
  }
}

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  let browser: Browser
  let server: Started
  let wire: Awaited<ReturnType<typeof startWire>>
  const visitors = createVisitors()

  beforeAll(async () => {
    server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    wire = await startWire(server.port)
    browser = await launchBrowser()
  })

  afterEach(async () => {
    const { outside } = await visitors.leave()
    expect(outside).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    wire?.close()
    await stage.clear()
  })

  const open = (options: BrowserContextOptions = {}): Promise<Page> =>
    visitors.open(browser, server.url, options)

  function countPushes(): number {
    const database = new Database(join(server.dataDir, 'oncebox.db'), { readonly: true })
    try {
      return database.query<{ n: number }, []>('SELECT count(*) AS n FROM pushes').get()?.n ?? 0
    } finally {
      database.close()
    }
  }

  const linkOn = async (page: Page) => {
    // The second of two navigations aborts the first. Poll, because waiting for the address would report that
    // as a failure.
    return ((await page.locator('pre#link').textContent()) ?? '').trim()
  }

  const chooseFile = async (page: Page, content = 'content') => {
    const path = join(stage.folder(), 'a.bin')
    writeFileSync(path, content)
    await page.check('#kind-file')
    await page.setInputFiles('#files', path)
  }

  test('retrying an upload whose response was lost finds the one push that it created', async () => {
    const page = await visitors.open(browser, wire.url, {})
    await signIn(page, wire.url, MEMBER)
    await page.goto(wire.url)
    await chooseFile(page)
    const before = countPushes()
    wire.loseAnswers(true)
    await page.click(SUBMIT)
    const told = page.locator('[data-progress] [role=alert]')
    await told.filter({ hasText: 'the link may have been created' }).waitFor()
    expect(countPushes()).toBe(before + 1)
    wire.loseAnswers(false)
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Try again')
    await page.getByRole('button', { name: 'Try again' }).click()
    const link = await linkOn(page)
    expect(link).toContain('/p/')
    expect(countPushes()).toBe(before + 1)
  })

  test('a form changed after a lost response reports the push that already exists', async () => {
    const page = await visitors.open(browser, wire.url, {})
    await signIn(page, wire.url, MEMBER)
    await page.goto(wire.url)
    await chooseFile(page)
    wire.loseAnswers(true)
    await page.click(SUBMIT)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    wire.loseAnswers(false)
    const before = countPushes()
    await page.fill('#payload', 'changed')
    await page.click(SUBMIT)
    await page.locator('.notice.bad', { hasText: 'with other content' }).waitFor()
    expect(await page.locator('.notice.bad a').getAttribute('href')).toMatch(/^\/p\/\w{26}\/preview$/)
    expect(countPushes()).toBe(before)
    await page.click(SUBMIT)
    await linkOn(page)
    expect(countPushes()).toBe(before + 1)
  })

  test.each([
    ['with scripts', {}],
    ['without scripts', UNSCRIPTED],
  ])('pressing twice creates one push, %s', async (_name, options) => {
    const page = await open(options)
    await page.goto(server.url)
    await page.fill('#payload', 'twice')
    const before = countPushes()
    // Hold the answer back until both presses: on a busy machine the second one could hit the next page.
    const { promise: pressed, resolve: letGo } = Promise.withResolvers<void>()
    await page.route('**/*', async (route) => {
      if (route.request().method() === 'POST') await pressed
      await route.fallback()
    })
    await page.dblclick(SUBMIT)
    letGo()
    const link = await linkOn(page)
    await page.reload()
    expect(await linkOn(page)).toBe(link)
    expect(countPushes()).toBe(before + 1)
  })

  test('going back and sending the form again leads to the same link', async () => {
    const page = await open()
    await page.goto(server.url)
    await page.fill('#payload', 'back and again')
    const before = countPushes()
    await page.click(SUBMIT)
    const link = await linkOn(page)
    await page.goBack()
    await page.fill('#payload', 'back and again')
    await page.click(SUBMIT)
    expect(await linkOn(page)).toBe(link)
    expect(countPushes()).toBe(before + 1)
    // Another form creates another push.
    await follow(page, () => page.locator('main a[href="/"]').click())
    await page.fill('#payload', 'back and again')
    await page.click(SUBMIT)
    expect(await linkOn(page)).not.toBe(link)
    expect(countPushes()).toBe(before + 2)
  })

  test.each([
    ['with scripts', {}],
    ['without scripts', UNSCRIPTED],
  ])('typed content survives if the session ends meanwhile, %s', async (_name, options) => {
    const page = await open(options)
    await signIn(page, server.url, MEMBER)
    await page.goto(server.url)
    await page.fill('#payload', 'typed for long')
    await page.fill('#name', 'router')
    const before = countPushes()
    await page.context().clearCookies()
    await page.click(SUBMIT)
    await page.locator('.notice.bad', { hasText: 'you are signed out now' }).waitFor()
    expect(await page.inputValue('#payload')).toBe('typed for long')
    expect(await page.inputValue('#name')).toBe('router')
    expect(countPushes()).toBe(before)
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Sign in in another tab' }).click(),
    ])
    await tab.fill('#email', MEMBER)
    await tab.fill('#password', PASSWORD)
    await tab.click('main button[type=submit]')
    await tab.waitForURL((address) => !address.pathname.startsWith('/sign-in'))
    await page.click(SUBMIT)
    await linkOn(page)
    expect(countPushes()).toBe(before + 1)
    await page.goto(`${server.url}/pushes`)
    expect(await page.textContent('main')).toContain('router')
  })

  test('with scripts, an expired session keeps the chosen files', async () => {
    const page = await open()
    await signIn(page, server.url, MEMBER)
    await page.goto(server.url)
    // Larger than all buffers between browser and server, so that the answer arrives while most of it is
    // unsent.
    await chooseFile(page, 'x'.repeat(60_000_000))
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page.click(SUBMIT)
    await page.locator('.notice.bad', { hasText: 'you are signed out now' }).waitFor()
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['a.bin'])
    await page.context().addCookies(cookies)
    await page.click(SUBMIT)
    await linkOn(page)
  })
})
