// Asking for a secret and answering in a real browser, against the binary: with scripts and without.

import { expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { findBrokenWords, measureLooks } from '../support/chromium.ts'
import { unfold } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'

type Mode = { owner: BrowserContextOptions; stranger: BrowserContextOptions }

const of = (options: BrowserContextOptions, width: number): Mode => {
  const mode = { ...options, viewport: { width, height: 800 } }
  return { owner: { ...mode }, stranger: { ...mode } }
}
/** Modes with and without scripts; the widths are shared out among them. */
const MODES: [string, Mode][] = [
  ['with scripts', of(SCRIPTED, 1280)],
  ['without scripts', of(UNSCRIPTED, 320)],
]
const STORIES: [string, Mode][] = [
  ...MODES,
  ['with scripts on a phone', of(SCRIPTED, 390)],
  ['without scripts on a desk', of(UNSCRIPTED, 1280)],
]

const FILE = {
  name: 'Vertrag für Ann.pdf',
  mimeType: 'application/pdf',
  buffer: Buffer.alloc(300_000, 'pdf'),
}
const ARRIVED = 'It has arrived. Only the person who asked can see it.'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ isExpected: /status of (410|422|429)/ })

  /** Asks on a page of the owner, and opens the link elsewhere. */
  async function ask(mode: Mode, passphrase = '') {
    const owner = await it.openAsMember(mode.owner, it.openAgain)
    await owner.goto(it.server.url)
    if (!(await owner.isVisible('nav ul.on-wide'))) await owner.click('nav summary')
    await follow(owner, () => owner.click('nav a[href="/requests"]:visible'))
    expect(await owner.evaluate(() => document.activeElement?.id)).toBe('message')
    await owner.fill('#message', 'The contract, please.\nAnd the door code.')
    await unfold(owner, 'expiry')
    await owner.check('#views-1', { force: true })
    if (passphrase !== '') await owner.fill('#passphrase', passphrase)
    await fits(owner)
    await follow(owner, () => owner.click('main form .actions button'))
    expect(await owner.textContent('h1')).toBe('Your request is ready')
    await fits(owner)
    const stranger = await it.openAgain(mode.stranger)
    await stranger.goto(await it.linkOf(owner))
    return { owner, stranger }
  }

  /** Checks that no page scrolls sideways, and that no short word is broken. */
  async function fits(page: Page): Promise<void> {
    expect(await page.evaluate(measureLooks)).toMatchObject({ overflow: 0, isReadable: true })
    expect(await page.evaluate(findBrokenWords)).toEqual([])
  }

  const send = (stranger: Page) => follow(stranger, () => stranger.click('main form button.primary'))

  test.each(STORIES)('two clicks lead from the notice of an answer to its text, %s', async (_name, mode) => {
    const { owner, stranger } = await ask(mode)
    expect(await owner.textContent('#opened')).toMatch(/0 of 3.*Nothing has arrived yet/s)
    expect(await owner.inputValue('#message')).toContain(await it.linkOf(owner))
    expect(await stranger.textContent('pre.prose')).toBe('The contract, please.\nAnd the door code.')
    expect(await stranger.evaluate(() => document.activeElement?.id)).toBe('payload')
    await stranger.fill('#payload', 'Kx9!pq__77-zZ<b>')
    await stranger.setInputFiles('#files', [FILE])
    await fits(stranger)
    await send(stranger)
    expect(await stranger.textContent('main')).toContain(ARRIVED)
    expect(await stranger.locator('main a').allTextContents()).toEqual(['Send another'])
    await fits(stranger)
    // Without scripts, reload; otherwise the open page notices by itself, as does the count in its header.
    if (mode.owner.javaScriptEnabled === false) await owner.reload()
    await owner.waitForSelector('#opened :text("1 of 3")')
    expect(await owner.textContent('#opened')).toMatch(/Arrived just now/)
    expect(await owner.locator('.top .count bdi').first().textContent()).toMatch(/^\d\+?$/)
    await fits(owner)
    await follow(owner, () => owner.click('#opened li a'))
    expect(await owner.textContent('h1')).toBe('The contract, please.')
    expect(await owner.textContent('.headline')).toContain('Arrived just now')
    await fits(owner)
    await follow(owner, () => owner.click('main form button.primary.large'))
    expect(await owner.textContent('.headline')).toContain('Read just now')
    expect(await it.readText(owner)).toBe('Kx9!pq__77-zZ<b>')
    expect(await owner.textContent('.downloads')).toContain(FILE.name)
    await fits(owner)
    await follow(owner, () => owner.click('form[action$="/pass-on"] button'))
    expect(await owner.inputValue('#payload')).toBe('Kx9!pq__77-zZ<b>')
  })

  test.each(MODES)('an answer is read from its row in the list, %s', async (_name, mode) => {
    const { owner, stranger } = await ask(mode)
    await stranger.fill('#payload', 'a message with more than seven words in it.')
    await send(stranger)
    await owner.goto(`${it.server.url}/pushes?show=new`)
    await fits(owner)
    const row = owner.locator('.list li').first()
    expect(await row.textContent()).toMatch(/Arrived just now.*New/s)
    await follow(owner, () => row.locator('button.square').click())
    expect(await owner.textContent('#payload')).toBe('a message with more than seven words in it.')
    await owner.goto(`${it.server.url}/pushes?state=received`)
    expect(await owner.locator('.list li').first().textContent()).toContain('Read just now')
  })

  test('the open page of a request removes its link after the last answer', async () => {
    const { owner, stranger } = await ask(of(SCRIPTED, 1280))
    for (const payload of ['one', 'two', 'three']) {
      await stranger.fill('#payload', payload)
      await send(stranger)
      if (payload !== 'three') await follow(stranger, () => stranger.click('main a'))
    }
    await owner.waitForSelector('.arrived :text("3 of 3")')
    expect(await owner.textContent('h1')).toBe('The contract, please.')
    expect(await owner.locator('#link, .handover').count()).toBe(0)
    await fits(owner)
  })

  test.each(MODES)('a wrong passphrase keeps what was typed, %s', async (_name, mode) => {
    const { stranger } = await ask(mode, 'sesame')
    await stranger.fill('#passphrase', 'open')
    await stranger.fill('#payload', 'kept')
    await stranger.setInputFiles('#files', [FILE])
    await stranger.click('main form button.primary')
    await stranger.waitForSelector('.notice.bad')
    expect(await stranger.textContent('#passphrase-problem')).toContain('That is not the passphrase.')
    expect(await stranger.inputValue('#payload')).toBe('kept')
    await stranger.fill('#passphrase', 'sesame')
    await send(stranger)
    expect(await stranger.textContent('main')).toContain(ARRIVED)
  })

  test.each(MODES)('a request that closes while it is filled in reports that, %s', async (_name, mode) => {
    const { owner, stranger } = await ask(mode)
    await stranger.setInputFiles('#files', [FILE])
    await owner.locator('details', { hasText: 'Close the request' }).locator('summary').click()
    await follow(owner, () => owner.click('button.danger'))
    await stranger.click('main form button.primary')
    await stranger.waitForSelector('h1:text("This link no longer works")')
    expect(await stranger.textContent('main')).toContain('ask for a new link')
  })
})
