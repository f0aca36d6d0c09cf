// The list of an owner in a browser: what is visible first on a phone, and what its rows can do.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { LANGUAGES } from '../../src/words/words.ts'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser } from '../support/chromium.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { prepareTour, type Tour } from '../support/tour.ts'

const VIEWPORT = { width: 390, height: 844 }
const PHONE: BrowserContextOptions = { viewport: VIEWPORT }
const UNSCRIPTED: BrowserContextOptions = { viewport: VIEWPORT, javaScriptEnabled: false }
const MODES: [string, BrowserContextOptions][] = [
  ['with scripts', PHONE],
  ['without scripts', UNSCRIPTED],
]

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  const visitors = createVisitors()
  let browser: Browser
  let server: Started
  let tour: Tour

  beforeAll(async () => {
    browser = await launchBrowser()
    server = await stage.start()
    tour = await prepareTour(browser, server)
    for (const name of ['Router in Oslo', 'Safe in Lyon']) await tour.push({ name })
  })

  afterEach(async () => {
    expect(await visitors.leave()).toEqual({ outside: [], complaints: [] })
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  async function openList(options = PHONE, openOne = visitors.openAgain): Promise<Page> {
    const page = await openOne(browser, server.url, options)
    await page.context().addCookies(await tour.people.member.cookies())
    await page.goto(`${server.url}/pushes`)
    return page
  }

  const topOf = async (page: Page, selector: string) =>
    (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN

  const names = (page: Page) => page.locator('.list .title').allTextContents()
  /** Simulates returning to the page. */
  const comeBack = (page: Page) =>
    page.evaluate(() => void document.dispatchEvent(new Event('visibilitychange')))
  const answered = (page: Page, work: () => Promise<unknown>) =>
    Promise.all([page.waitForResponse((answer) => answer.url().includes('/pushes')), work()])

  test('the list is searched while typing, and the slash key focuses the search', async () => {
    const page = await openList({ viewport: { width: 1200, height: 900 } })
    await page.keyboard.press('/')
    await page.keyboard.type('oslo/')
    expect(await page.inputValue('#q')).toBe('oslo/')
    await page.waitForURL('**/pushes?q=oslo%2F')
    await page.keyboard.press('Backspace')
    await page.waitForURL('**/pushes?q=oslo')
    expect(await names(page)).toEqual(['Router in Oslo'])
    // A search covers all tabs.
    expect(await page.locator('.tabs [aria-current]').count()).toBe(0)
    expect(await page.textContent('.told')).toBe('1 secret')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('q')
    // Rows that arrive by polling have working buttons, too.
    expect(await page.isVisible('.list [data-copies]')).toBe(true)
    await page.click('.list .menu summary')
    await page.click('.list .menu [name=only]')
    expect(await page.textContent('.ask .danger')).toBe('Revoke 1 secret')
    await page.fill('#q', '')
    await page.waitForURL('**/pushes')
    expect(await names(page)).toContain('Safe in Lyon')
    await page.fill('#q', 'nowhere')
    await page.waitForURL('**/pushes?q=nowhere')
    expect(await page.textContent('.nothing')).toContain('No secret has these words')
    await page.reload()
    expect(await page.inputValue('#q')).toBe('nowhere')
  })

  test('the list refreshes itself and keeps the focus', async () => {
    const page = await openList(PHONE, visitors.open)
    await page.clock.install()
    await page.reload()
    await page.locator('.list .menu summary').first().focus()
    const menu = await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await tour.push({ name: 'Came later' })
    await answered(page, () => page.clock.runFor(9000))
    await page.waitForSelector('text=Came later')
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe(menu ?? '')
    expect(await page.isVisible('.list [data-copies]')).toBe(true)
  })

  test('the list does not refresh during a selection, an open menu or typing', async () => {
    const page = await openList(PHONE, visitors.open)
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.headers()['oncebox-look'] !== undefined) asked.push(request.url())
    })
    await page.locator('.list input').first().check()
    await comeBack(page)
    await page.locator('.list input').first().uncheck()
    await page.locator('.list .menu summary').first().click()
    await comeBack(page)
    await page.keyboard.press('Escape')
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('#q')
      if (field !== null) field.value = 'half a wo'
      field?.dispatchEvent(new Event('input'))
      document.dispatchEvent(new Event('visibilitychange'))
    })
    expect(asked).toEqual([])
    await page.waitForURL('**/pushes?q=half*')
    await answered(page, () => comeBack(page))
    expect(await page.inputValue('#q')).toBe('half a wo')
    expect(asked).toHaveLength(1)
    // Returning to the page during a search does not drop the search.
    await page.route('**/pushes?q=oslo', async (route) => {
      await comeBack(page)
      await route.continue()
    })
    await page.fill('#q', 'oslo')
    await page.waitForURL('**/pushes?q=oslo')
    expect(await names(page)).toEqual(['Router in Oslo'])
  })

  test('the list groups days by the reader’s time zone', async () => {
    const page = await openList(PHONE, visitors.open)
    expect(await page.textContent('.list h2')).toBe('today')
    await page.clock.setFixedTime(Date.now() + 86_400_000)
    await page.reload()
    expect(await page.textContent('.list h2')).toBe('yesterday')
    expect((await names(page)).length).toBeGreaterThan(1)
  })

  test('a list whose session has ended redirects to the sign-in page', async () => {
    const page = await openList()
    await page.context().clearCookies()
    await comeBack(page)
    await page.waitForURL('**/sign-in?next=*')
  })

  test('a click anywhere in a row opens the push, except on its other controls', async () => {
    const page = await openList()
    await page.locator('.list input').first().check()
    expect(page.url()).toBe(`${server.url}/pushes`)
    await page.locator('.list .menu summary').first().click()
    expect(await page.isVisible('.list .sheet')).toBe(true)
    await page.keyboard.press('Escape')
    // The link of the title lies over the row.
    await page.locator('.list .status').first().click({ force: true })
    await page.waitForURL(/\/pushes\/\w+$/)
  })

  test('a phone shows the first push in its upper third, in every language', async () => {
    const page = await openList()
    for (const language of LANGUAGES) {
      await page.goto(`${server.url}/pushes?locale=${language}`)
      const top = await topOf(page, '.list li')
      expect({ language, isNear: top < 260 }).toEqual({ language, isNear: true })
    }
  })

  test.each(MODES)('a phone shows the filters after one press, %s', async (_name, options) => {
    const page = await openList(options)
    expect(await page.isVisible('select[name=sort]')).toBe(false)
    await page.click('.filters summary')
    await page.selectOption('select[name=sort]', 'name')
    if (options === UNSCRIPTED) await follow(page, () => page.click('.filters button[type=submit]'))
    await page.waitForURL('**/pushes?*sort=name')
    expect(await page.textContent('.filters summary .count')).toBe('1')
  })

  test.each(MODES)(
    'the buttons for selected pushes appear with the first selection and move nothing, %s',
    async (_name, options) => {
      const page = await openList(options)
      const top = await topOf(page, '.list li')
      expect(await page.isVisible('.selected button')).toBe(false)
      await page.check('.list input')
      expect(await page.isVisible('.selected button')).toBe(true)
      expect(await topOf(page, '.list li')).toBe(top)
    },
  )

  test('the list asks in place before it expires the selected number of pushes', async () => {
    for (const name of ['a', 'b', 'c']) await tour.push({ name: `Archive ${name}` })
    const page = await openList()
    await page.goto(`${server.url}/pushes?show=active&q=archive`)
    const names = () => page.locator('.list .title').allTextContents()
    for (const at of [0, 1]) await page.locator('[name=push]').nth(at).check()
    await page.click('[value=expire]')
    expect(await page.textContent('.ask p')).toStartWith('Their links stop working at once')
    expect(await page.textContent('.ask .danger')).toBe('Revoke 2 secrets')
    // Pressing Enter twice ends nothing, and the number is always true.
    await page.keyboard.press('Enter')
    expect([await page.isVisible('.ask'), await page.isVisible('[value=expire]')]).toEqual([false, true])
    await page.click('[value=expire]')
    await page.locator('[name=push]').first().uncheck()
    expect(await page.isVisible('.ask')).toBe(false)
    await page.locator('.list .menu > summary').last().click()
    await page.locator('.list .menu [name=only]').last().click()
    expect(await page.textContent('.ask .danger')).toBe('Revoke 1 secret')
    await follow(page, () => page.click('.ask .danger'))
    expect(await page.textContent('.notice.good')).toContain('1 secret is revoked')
    expect(await names()).toEqual(['Archive c', 'Archive b'])
  })

  test('without scripts a separate page asks before pushes are expired', async () => {
    await tour.push({ name: 'Cellar' })
    const page = await openList(UNSCRIPTED)
    await page.check('.list input')
    await follow(page, () => page.click('[value=expire]'))
    expect(await page.textContent('h1')).toBe('Revoke 1 secret')
    expect(await page.textContent('main li')).toBe('Cellar')
    await follow(page, () => page.click('main .danger'))
    expect(await page.textContent('.notice.good')).toContain('1 secret is revoked')
  })
})
