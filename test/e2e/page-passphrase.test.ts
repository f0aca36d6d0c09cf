// The passphrase of a push in a real browser: how it is typed, asked for and refused, and where the focus is
// then.

import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { SUBMIT } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { MODES, SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'
import { waitUntil } from '../support/waiting.ts'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ isExpected: /status of (422|429)|ERR_CONNECTION_FAILED/ })
  const { open: openNew, openAgain: open, createOn, linkOf, press, readText } = it

  test.each(MODES)(
    'the page refuses a wrong passphrase and accepts the right one, %s',
    async (_name, options) => {
      const link = await createOn(await open(options), {
        payload: 'opened',
        passphrase: 'sésame 🔑',
        views: 1,
      })
      const reader = await open(options)
      await reader.goto(link)
      await reader.fill('#passphrase', 'wrong')
      await press(reader)
      expect(await reader.textContent('#passphrase-problem')).toContain('That is not the passphrase')
      expect(await reader.context().cookies()).toEqual([])
      await reader.fill('#passphrase', 'sésame 🔑')
      await press(reader)
      expect(await readText(reader)).toBe('opened')
    },
  )

  test('sender and recipient can reveal a passphrase while typing', async () => {
    const styleOf = (of: Page) =>
      of
        .locator('#passphrase')
        .evaluate((element) => getComputedStyle(element).getPropertyValue('-webkit-text-security'))
    const page = await open(UNSCRIPTED)
    await page.goto(it.server.url)
    await page.fill('#payload', 'opened')
    await page.fill('#passphrase', 'sesame')
    expect(await styleOf(page)).toBe('disc')
    await page.check('.unseen .show input')
    expect(await styleOf(page)).toBe('none')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    const link = await linkOf(page)

    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    await reader.fill('#passphrase', 'sesam')
    expect(await styleOf(reader)).toBe('disc')
    await reader.check('.unseen .show input')
    expect(await styleOf(reader)).toBe('none')
    await press(reader)
    // On the next page the passphrase is hidden again.
    await reader.waitForSelector('#passphrase-problem:not(:empty)')
    expect(await styleOf(reader)).toBe('disc')
    await reader.fill('#passphrase', 'sesame')
    await press(reader)
    expect(await readText(reader)).toBe('opened')
  })

  const createProtected = async () => (await it.server.create({ payload: 'x', passphrase: 'right' })).json()
  const second = (page: Page) => page.getByRole('button', { name: 'Copy passphrase' })
  const keptIn = (page: Page) => page.evaluate(() => sessionStorage.length)

  test('the dice fills in three visible words, and the page of the link offers to copy them once', async () => {
    const page = await open(SCRIPTED)
    await page.goto(it.server.url)
    await page.fill('#payload', 'opened')
    const dice = page.getByRole('button', { name: 'Fill in three random words' })
    await dice.click()
    await waitUntil(async () => (await page.inputValue('#passphrase')) !== '')
    const first = await page.inputValue('#passphrase')
    await dice.click()
    await waitUntil(async () => (await page.inputValue('#passphrase')) !== first)
    const passphrase = await page.inputValue('#passphrase')
    expect(passphrase).toMatch(/^[a-z]+(-[a-z]+){2}$/)
    expect(await page.isChecked('.unseen .show input')).toBe(true)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    const link = await linkOf(page)
    const labels = await page.locator('.ways').getByRole('button').allInnerTexts()
    expect(labels.slice(0, 2)).toEqual(['Copy link', 'Copy passphrase'])
    expect(await keptIn(page)).toBe(0)
    expect(await page.content()).not.toContain(passphrase)
    await second(page).click()
    await page.locator('[data-kept] .done').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(passphrase)
    await page.reload()
    expect(await page.locator('[data-kept]').count()).toBe(1)
    expect(await second(page).isVisible()).toBe(false)
    await page.goto(link)
    await page.fill('#passphrase', passphrase)
    await press(page)
    expect(await readText(page)).toBe('opened')
  })

  test('the passphrase of a push with files can be copied too', async () => {
    const page = await it.openAsMember(SCRIPTED, open)
    await page.goto(it.server.url)
    await page.check('#kind-file')
    await page.setInputFiles('#files', { name: 'a', mimeType: 'x/y', buffer: Buffer.alloc(10) })
    await page.fill('#passphrase', 'sésame "1"')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    await second(page).click()
    await page.locator('[data-kept] .done').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('sésame "1"')
  })

  test('a passphrase that was not sent, or belongs to another push, is forgotten and not offered', async () => {
    const page = await openNew(SCRIPTED)
    await createOn(page, { payload: 'x', passphrase: 'other' })
    const other = page.url()
    // The form is refused, so it is typed but not stored.
    await page.goto(it.server.url)
    await page.fill('#payload', ' ')
    await page.fill('#passphrase', 'typed')
    await follow(page, () => page.click(SUBMIT))
    expect(await page.inputValue('#passphrase')).toBe('typed')
    expect(await keptIn(page)).toBe(0)
    // This request gets no answer: the next page of the tab belongs to another push.
    await page.fill('#payload', 'x')
    await page.route('**/*', (route) =>
      route.request().method() === 'POST' ? route.abort('connectionfailed') : route.continue(),
    )
    await page.click(SUBMIT)
    await page.waitForURL('chrome-error://**')
    await page.unrouteAll()
    await page.goto(other)
    expect(await page.locator('[data-kept]').count()).toBe(1)
    expect(await second(page).isVisible()).toBe(false)
    expect(await keptIn(page)).toBe(0)
    await createOn(page, { payload: 'without one' })
    expect(await page.locator('[data-kept]').count()).toBe(0)
  })

  test('without scripts there is no dice and no button to copy the passphrase', async () => {
    const page = await open(UNSCRIPTED)
    await createOn(page, { payload: 'x', passphrase: 'sesame' })
    expect(await page.locator('[data-kept]').isVisible()).toBe(false)
    await page.goto(it.server.url)
    expect(await page.locator('[data-draws]').isVisible()).toBe(false)
  })

  test.each(MODES)('a refused form focuses its problem, %s', async (_name, options) => {
    const page = await open(options)
    await page.goto(it.server.url)
    await page.fill('#payload', ' ')
    await follow(page, () => page.click(SUBMIT))
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('role')).toBe('alert')
    await page.keyboard.press('Tab')
    expect(await focused.evaluate((element) => element.closest('main') !== null)).toBe(true)

    await page.goto((await createProtected()).html_url)
    await page.fill('#passphrase', 'wrong')
    await press(page)
    await page.waitForSelector('#passphrase-problem:not(:empty)')
    expect(await focused.getAttribute('id')).toBe('passphrase')
  })

  test('after five wrong passphrases the right one is refused too, and a countdown runs', async () => {
    const { url_token, html_url } = await createProtected()
    for (let n = 0; n < 5; n += 1) await it.server.retrieve(`${url_token}?passphrase=wrong`)
    const reader = await open(SCRIPTED)
    await reader.goto(html_url)
    await reader.fill('#passphrase', 'right')
    await press(reader)
    expect(await reader.textContent('#passphrase-problem')).toContain('Too many wrong passphrases')
    expect(await reader.isVisible('#payload')).toBe(false)
    const told = () => reader.textContent('[data-waits]')
    const first = await told()
    expect(first).toMatch(/try again in \d+ seconds/)
    await waitUntil(async () => (await told()) !== first)
    expect(await told()).toMatch(/try again in \d+ seconds/)
  })
})
