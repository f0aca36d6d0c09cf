// The list of an owner in a browser: what is seen first on a phone, and what is done with its rows.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { LANGUAGES } from '../../src/words/words.ts'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser, skipBrowserTests } from '../support/chromium.ts'
import { follow } from '../support/pressing.ts'
import { MEMBER, prepareTour, signIn, type Tour } from '../support/tour.ts'

const PHONE = { width: 390, height: 844 }

describe.skipIf(skipBrowserTests)('in a browser', () => {
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

  async function openList(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await visitors.open(browser, server.url, { viewport: PHONE, ...options })
    await signIn(page, server.url, MEMBER)
    await page.goto(`${server.url}/pushes`)
    return page
  }

  const topOf = async (page: Page, selector: string) =>
    (await page.locator(selector).first().boundingBox())?.y ?? Number.NaN

  test('a press anywhere in a row opens the push, and its other controls do what they did', async () => {
    const page = await openList()
    await page.locator('.list input').first().check()
    expect(page.url()).toBe(`${server.url}/pushes`)
    await page.locator('.list .menu summary').first().click()
    expect(await page.isVisible('.list .sheet')).toBe(true)
    await page.keyboard.press('Escape')
    // The link of the title lies over the row.
    await page.locator('.list .state').first().click({ force: true })
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

  test.each([true, false])('filters are a press away on a phone, scripts: %p', async (javaScriptEnabled) => {
    const page = await openList({ javaScriptEnabled })
    expect(await page.isVisible('select[name=sort]')).toBe(false)
    await page.click('.filters summary')
    await page.selectOption('select[name=sort]', 'name')
    if (!javaScriptEnabled) await follow(page, () => page.click('.filters button[type=submit]'))
    await page.waitForURL('**/pushes?*sort=name')
    expect(await page.textContent('.filters summary .count')).toBe('1')
  })

  test.each([true, false])(
    'the buttons for selected pushes come with the first one and move nothing, scripts: %p',
    async (javaScriptEnabled) => {
      const page = await openList({ javaScriptEnabled })
      const top = await topOf(page, '.list li')
      expect(await page.isVisible('.selected button')).toBe(false)
      await page.check('.list input')
      expect(await page.isVisible('.selected button')).toBe(true)
      expect(await topOf(page, '.list li')).toBe(top)
    },
  )

  test('the list asks in place before pushes expire, with their number', async () => {
    for (const name of ['a', 'b', 'c']) await tour.push({ name: `Archive ${name}` })
    const page = await openList()
    await page.goto(`${server.url}/pushes?show=active&q=archive`)
    const names = () => page.locator('.list .title').allTextContents()
    for (const at of [0, 1]) await page.locator('[name=push]').nth(at).check()
    await page.click('[value=expire]')
    expect(await page.textContent('.ask p')).toStartWith('Their links stop working at once')
    expect(await page.textContent('.ask .danger')).toBe('Revoke 2 secrets')
    // Enter twice ends nothing, and the number is always true.
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

  test('without scripts a page asks before pushes expire', async () => {
    await tour.push({ name: 'Cellar' })
    const page = await openList({ javaScriptEnabled: false })
    await page.check('.list input')
    await follow(page, () => page.click('[value=expire]'))
    expect(await page.textContent('h1')).toBe('Revoke 1 secret')
    expect(await page.textContent('main li')).toBe('Cellar')
    await follow(page, () => page.click('main .danger'))
    expect(await page.textContent('.notice.good')).toContain('1 secret is revoked')
  })
})
