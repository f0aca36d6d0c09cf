// A server of the binary and browsers that hand pushes over on it, for the tests of one file.

import { afterAll, afterEach, beforeAll, expect } from 'bun:test'
import type { Browser, BrowserContextOptions, Cookie, Page } from 'playwright-core'
import { createStage, type Started } from './binary.ts'
import { createVisitors, launchBrowser } from './chromium.ts'
import { fillCreateForm, SUBMIT } from './create-page.ts'
import { follow } from './pressing.ts'
import { MEMBER, PASSWORD, signIn } from './tour.ts'

export const SCRIPTED: BrowserContextOptions = { permissions: ['clipboard-read', 'clipboard-write'] }
export const UNSCRIPTED: BrowserContextOptions = { javaScriptEnabled: false }
export const PHONE: BrowserContextOptions = {
  ...SCRIPTED,
  viewport: { width: 320, height: 640 },
  hasTouch: true,
}

/** Modes of stories that scripts change. The tour checks how all pages look on a phone. */
export const MODES: [string, BrowserContextOptions][] = [
  ['with scripts', SCRIPTED],
  ['without scripts', UNSCRIPTED],
]

/** The text of a copy button that failed. */
export const FAILED = 'Not copied: select it and press Ctrl+C'

export type HandoverOptions = {
  flags?: string[]
  /** Console messages that are no faults: refusals that a page shows. */
  isExpected?: RegExp
}

/** Starts a server with an account `MEMBER`. */
export function useHandover({ flags = [], isExpected }: HandoverOptions = {}) {
  const stage = createStage()
  const visitors = createVisitors()
  let browser: Browser | undefined
  let server: Started | undefined
  let session: Cookie[] = []

  beforeAll(async () => {
    server = await stage.start({ flags })
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    browser = await launchBrowser()
  })

  afterEach(async () => {
    const { outside, complaints } = await visitors.leave()
    expect(outside).toEqual([])
    expect(complaints.filter((text) => isExpected?.test(text) !== true)).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  function running(): { browser: Browser; server: Started } {
    if (browser === undefined || server === undefined)
      throw new Error('pushes are handed over only within tests')
    return { browser, server }
  }

  const open = (options: BrowserContextOptions): Promise<Page> =>
    visitors.open(running().browser, running().server.url, options)

  /** Returns the page that another test had with the same options, reset. */
  const openAgain = (options: BrowserContextOptions): Promise<Page> =>
    visitors.openAgain(running().browser, running().server.url, options)

  /** Returns a browser in which `MEMBER` is signed in. Signs in only the first time. */
  async function openAsMember(options: BrowserContextOptions, openOne = open): Promise<Page> {
    const page = await openOne(options)
    if (session.length > 0) await page.context().addCookies(session)
    else await signIn(page, running().server.url, MEMBER)
    session = await page.context().cookies()
    return page
  }

  const linkOf = async (page: Page) => ((await page.textContent('#link')) ?? '').trim()

  /** Creates a push on the page, and resolves to its secret link. */
  async function createOn(
    page: Page,
    fields: { kind?: string; payload?: string; views?: number; passphrase?: string },
  ): Promise<string> {
    await page.goto(running().server.url)
    await fillCreateForm(page, fields)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    return linkOf(page)
  }

  const press = (page: Page) => follow(page, () => page.click('main form button.primary'))

  /** Returns the text as a reader sees it; presses the button if it is hidden. */
  async function readText(page: Page): Promise<string | null> {
    // Passwords are hidden, messages are not.
    const dots = page.locator('.secret > details > summary')
    if ((await dots.count()) > 0) {
      expect(await page.isVisible('#payload')).toBe(false)
      await dots.click()
    }
    await page.waitForSelector('#payload', { state: 'visible' })
    return page.textContent('#payload')
  }

  async function expectGone(page: Page, link: string): Promise<void> {
    const response = await page.goto(link)
    expect(response?.status()).toBe(404)
    expect(await page.textContent('h1')).toBe('This link no longer works')
  }

  return {
    get server() {
      return running().server
    },
    folder: stage.folder,
    open,
    openAgain,
    openAsMember,
    linkOf,
    createOn,
    press,
    readText,
    expectGone,
  }
}
