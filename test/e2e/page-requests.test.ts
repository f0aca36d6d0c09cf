// Asking for a secret and answering in a real browser, against the binary: with scripts and without.

import { expect, test } from 'bun:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { measureLooks } from '../support/chromium.ts'
import { unfold } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'

const PHONE = { width: 320, height: 640 }
type Mode = { owner: BrowserContextOptions; stranger: BrowserContextOptions }

/** The mode without scripts also uses the narrowest phone. */
const MODES: [string, Mode][] = [
  ['with scripts', { owner: { ...SCRIPTED }, stranger: { ...SCRIPTED } }],
  [
    'without scripts',
    { owner: { ...UNSCRIPTED, viewport: PHONE }, stranger: { ...UNSCRIPTED, viewport: PHONE } },
  ],
]

const FILE = {
  name: 'Vertrag für Ann.pdf',
  mimeType: 'application/pdf',
  buffer: Buffer.alloc(300_000, 'pdf'),
}
const ARRIVED = 'You can close this page. It has arrived.'

needs('chromium').describe('in a browser', () => {
  const it = useHandover({ isExpected: /status of (410|422|429)/ })

  /** Asks on a page of the owner, and opens the link elsewhere. */
  async function ask(mode: Mode, passphrase = '') {
    const owner = await it.openAsMember(mode.owner, it.openAgain)
    await owner.goto(it.server.url)
    await follow(owner, () => owner.click('text=Ask for a secret'))
    await owner.fill('#message', 'The contract, please.\nAnd the door code.')
    if (passphrase !== '') {
      await unfold(owner, 'options')
      await owner.fill('#passphrase', passphrase)
    }
    await follow(owner, () => owner.click('main form > button'))
    const stranger = await it.openAgain(mode.stranger)
    await stranger.goto(await it.linkOf(owner))
    return { owner, stranger }
  }

  const send = (stranger: Page) => follow(stranger, () => stranger.click('main form button.primary'))

  test.each(MODES)(
    'an anonymous guest answers with text and files, and the owner opens them, %s',
    async (_name, mode) => {
      const { owner, stranger } = await ask(mode)
      expect(await stranger.textContent('pre.prose')).toBe('The contract, please.\nAnd the door code.')
      await stranger.fill('#payload', 'Door: 4711\nGate: <b>')
      await stranger.setInputFiles('#files', [FILE])
      expect(await stranger.evaluate(measureLooks)).toMatchObject({ overflow: 0, isReadable: true })
      await send(stranger)
      expect(await stranger.textContent('main')).toContain(ARRIVED)
      expect(await stranger.locator('main a').count()).toBe(0)
      await owner.reload()
      expect(await owner.textContent('.chip')).toBe('answered')
      await follow(owner, () => owner.click('.actions a.primary'))
      await follow(owner, () => owner.click('a.title'))
      await follow(owner, () => owner.click('.ways-on a.primary'))
      await it.press(owner)
      expect(await owner.textContent('#payload')).toBe('Door: 4711\nGate: <b>')
      expect(await owner.textContent('.downloads')).toContain(FILE.name)
    },
  )

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
