// The passphrase of a push in a real browser: how it is typed, asked for and refused, and where the focus is then.

import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { skipBrowserTests } from '../support/chromium.ts'
import { SUBMIT } from '../support/create-page.ts'
import { follow } from '../support/pressing.ts'
import { MODES, SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'
import { waitUntil } from '../support/waiting.ts'

describe.skipIf(skipBrowserTests)('in a browser', () => {
  const it = useHandover({ isExpected: /status of (422|429)/ })
  const { open, createOn, linkOf, press, readText } = it

  test.each(MODES)('a passphrase is asked for on the page, wrong and right, %s', async (_name, options) => {
    const link = await createOn(await open(options), { payload: 'opened', passphrase: 'sésame 🔑', views: 1 })
    const reader = await open(options)
    await reader.goto(link)
    await reader.fill('#passphrase', 'wrong')
    await press(reader)
    expect(await reader.textContent('#passphrase-problem')).toContain('That is not the passphrase')
    expect(await reader.context().cookies()).toEqual([])
    await reader.fill('#passphrase', 'sésame 🔑')
    await press(reader)
    expect(await readText(reader)).toBe('opened')
  })

  test.each(MODES)(
    'a passphrase can be seen while it is typed, by its sender and its receiver, %s',
    async (_name, options) => {
      const styleOf = (of: Page) =>
        of
          .locator('#passphrase')
          .evaluate((element) => getComputedStyle(element).getPropertyValue('-webkit-text-security'))
      const page = await open(options)
      await page.goto(it.server.url)
      await page.fill('#payload', 'opened')
      await page.fill('#passphrase', 'sesame')
      expect(await styleOf(page)).toBe('disc')
      await page.check('.unseen .show input')
      expect(await styleOf(page)).toBe('none')
      await page.click(SUBMIT)
      await page.waitForURL('**/preview')

      const reader = await open(options)
      await reader.goto(await linkOf(page))
      await reader.fill('#passphrase', 'sesam')
      expect(await styleOf(reader)).toBe('disc')
      await reader.check('.unseen .show input')
      expect(await styleOf(reader)).toBe('none')
      await press(reader)
      // Hidden again on the next page.
      await reader.waitForSelector('#passphrase-problem:not(:empty)')
      expect(await styleOf(reader)).toBe('disc')
      await reader.fill('#passphrase', 'sesame')
      await press(reader)
      expect(await readText(reader)).toBe('opened')
    },
  )

  test.each(MODES)('a refused form has the focus where it says why, %s', async (_name, options) => {
    const page = await open(options)
    await page.goto(it.server.url)
    await page.fill('#payload', ' ')
    await follow(page, () => page.click(SUBMIT))
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('role')).toBe('alert')
    await page.keyboard.press('Tab')
    expect(await focused.evaluate((element) => element.closest('main') !== null)).toBe(true)

    const link = await createOn(await open(options), { payload: 'x', passphrase: 'right' })
    const reader = await open(options)
    await reader.goto(link)
    await reader.fill('#passphrase', 'wrong')
    await press(reader)
    await reader.waitForSelector('#passphrase-problem:not(:empty)')
    expect(await reader.locator(':focus').getAttribute('id')).toBe('passphrase')
  })

  test('five wrong passphrases, and the right one has to wait too', async () => {
    const link = await createOn(await open(UNSCRIPTED), { payload: 'x', passphrase: 'right' })
    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    for (let n = 0; n < 5; n += 1) {
      await reader.fill('#passphrase', `wrong ${n}`)
      await press(reader)
    }
    await reader.fill('#passphrase', 'right')
    await press(reader)
    expect(await reader.textContent('#passphrase-problem')).toContain('Too many wrong passphrases')
    expect(await reader.isVisible('#payload')).toBe(false)
  })

  test('the time to wait counts down', async () => {
    const link = await createOn(await open(UNSCRIPTED), { payload: 'x', passphrase: 'right' })
    const reader = await open(SCRIPTED)
    await reader.goto(link)
    for (let n = 0; n < 6; n += 1) {
      await reader.fill('#passphrase', `wrong ${n}`)
      await press(reader)
    }
    const told = () => reader.textContent('[data-waits]')
    const first = await told()
    expect(first).toMatch(/try again in \d+ seconds/)
    await waitUntil(async () => (await told()) !== first)
    expect(await told()).toMatch(/try again in \d+ seconds/)
  })
})
