// The form that creates a push, in a real browser: which fields are visible at first, what works without
// scripts, and what is checked before anything is sent.

import { expect, test } from 'bun:test'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { fillCreateForm, SUBMIT, unfold } from '../support/create-page.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { readQr } from '../support/qr.ts'
import { MEMBER, PASSWORD } from '../support/tour.ts'
import { useHandover } from '../support/use-handover.ts'
import { waitUntil } from '../support/waiting.ts'

const LAPTOP: BrowserContextOptions = { viewport: { width: 1366, height: 768 } }
const UNSCRIPTED: BrowserContextOptions = { ...LAPTOP, javaScriptEnabled: false }
const MODES: [string, BrowserContextOptions][] = [
  ['with scripts', LAPTOP],
  ['without scripts', UNSCRIPTED],
]

needs('chromium').describe('in a browser', () => {
  const it = useHandover({
    flags: ['--max-payload-bytes', '2KiB', '--max-file-bytes', '1MiB', '--max-files', '2'],
    isExpected: /status of 422|ERR_INTERNET_DISCONNECTED/,
  })

  async function open(options: BrowserContextOptions = LAPTOP, openOne = it.openAgain): Promise<Page> {
    const page = await openOne(options)
    await page.goto(it.server.url)
    return page
  }

  const openAsMember = (options: BrowserContextOptions = LAPTOP) =>
    open(options, (own) => it.openAsMember(own, it.openAgain))

  /** Submits the form, and opens the link of the new push. */
  async function handOver(page: Page): Promise<Page> {
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    await page.goto(await it.linkOf(page))
    await it.press(page)
    await page.waitForSelector('.secret')
    return page
  }

  /** The requests with a form that the page sends from now on. */
  function watchForms(page: Page): string[] {
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    return sent
  }

  const lineOf = async (page: Page) => (await page.innerText('.expiry > summary')).replace(/\s+/g, ' ').trim()

  test.each(MODES)(
    'the most used fields are visible without scrolling on a laptop, %s',
    async (_name, options) => {
      const page = await open(options)
      for (const selector of ['#payload', '.expiry > summary', '#passphrase', SUBMIT]) {
        const box = await page.locator(selector).boundingBox()
        expect({ selector, isSeen: box !== null && box.y + box.height <= 768 }).toEqual({
          selector,
          isSeen: true,
        })
      }
      expect(await page.locator(':focus').getAttribute('id')).toBe('payload')
      expect(await lineOf(page)).toBe('Opens 5 times · 7 days')
    },
  )

  test('the form fits a laptop and a phone, and shows the recipient’s page where there is room', async () => {
    const page = await openAsMember()
    const card = page.locator('aside.half')
    for (const [width, height, isBeside] of [
      [1280, 800, true],
      [390, 844, false],
    ] as const) {
      await page.setViewportSize({ width, height })
      await page.reload()
      await card.waitFor({ state: isBeside ? 'visible' : 'hidden' })
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(height)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.fill('#name', 'Kim')
    const [asked] = await Promise.all([
      page.waitForRequest(/[?]card=.*passphrase=true/),
      page.fill('#passphrase', 'sesame'),
    ])
    expect(asked.url()).not.toMatch(/sesame|Kim/)
    expect(await card.innerText()).toContain('Kim')
  })

  test('the button of each kind is visible without scrolling on a laptop', async () => {
    const page = await openAsMember()
    for (const kind of ['file', 'url', 'qr', 'wifi']) {
      await page.check(`#kind-${kind}`)
      const box = await page.locator(SUBMIT).boundingBox()
      expect({ kind, isSeen: box !== null && box.y + box.height <= 768 }).toEqual({ kind, isSeen: true })
    }
  })

  test('a text that an office program copied with a picture is pasted as text', async () => {
    const page = await openAsMember()
    const isTaken = await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'a cell')
      clipboardData.items.add(new File(['x'], 'cell.png'))
      const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })
      return !document.getElementById('payload')?.dispatchEvent(paste)
    })
    expect(isTaken).toBe(false)
    expect(await page.isChecked('#kind-text')).toBe(true)
  })

  test('the page shows a drop target while files are dragged over it', async () => {
    const page = await openAsMember()
    const drag = (name: string) =>
      page.evaluate((type) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['x'], 'x.txt'))
        document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
      }, name)
    expect(await page.isVisible('.overlay')).toBe(false)
    await drag('dragenter')
    expect(await page.isVisible('.overlay')).toBe(true)
    expect(await page.innerText('.overlay')).toBe('Drop the files here to share them')
    await drag('dragleave')
    expect(await page.isVisible('.overlay')).toBe(false)
  })

  test('files dragged over the page of an anonymous guest show that files need an account', async () => {
    const page = await open()
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['x'], 'x.txt'))
      document.body.dispatchEvent(new DragEvent('dragenter', { bubbles: true, dataTransfer }))
    })
    expect(await page.innerText('.overlay')).toBe('You need an account to share files.')
  })

  test('a picture that is pasted into the text becomes a file, with the text as its message', async () => {
    const page = await openAsMember()
    await page.fill('#payload', 'the plan')
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }))
      const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData })
      document.getElementById('payload')?.dispatchEvent(paste)
    })
    expect(await page.isChecked('#kind-file')).toBe(true)
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['image.png'])
    expect(await page.inputValue('#payload')).toBe('the plan')
  })

  test('a text that is only an address is offered as a link, and stays a text until the offer is pressed', async () => {
    const page = await open({ ...LAPTOP, permissions: ['clipboard-read', 'clipboard-write'] })
    const offer = page.getByRole('button', { name: 'Share it as a link' })
    const settings = async () => (await page.locator('.settings').boundingBox())?.y
    const before = await settings()
    expect(await offer.isVisible()).toBe(false)
    await page.evaluate('navigator.clipboard.writeText("https://example.org/a?b=c ")')
    await page.focus('#payload')
    await page.keyboard.press('Control+V')
    await offer.waitFor()
    expect(await settings()).toBe(before)
    expect(await page.isChecked('#kind-text')).toBe(true)
    for (const other of [
      'see https://example.org',
      'https://example.org two',
      'https://',
      'javascript:alert(1)',
    ]) {
      await page.fill('#payload', other)
      expect(await offer.isVisible()).toBe(false)
    }
    await page.fill('#payload', 'https://example.org/a?b=c')
    await page.focus('#payload')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    expect(await page.isChecked('#kind-url')).toBe(true)
    expect(await page.inputValue('#link:focus')).toBe('https://example.org/a?b=c')
    expect(await page.inputValue('#payload')).toBe('')
    await handOver(page)
    expect(await page.content()).toContain('https://example.org/a?b=c')
  })

  test('Ctrl+Enter submits the form from any field', async () => {
    const page = await open()
    // A browser gives the focus when it first draws the page.
    await page.waitForSelector('#payload:focus')
    await page.keyboard.type('typed at once')
    await page.keyboard.press('Control+Enter')
    await page.waitForURL('**/preview')
    await page.goto(it.server.url)
    await page.check('#kind-url')
    await page.fill('#link', 'https://example.org')
    await page.focus('#passphrase')
    await page.keyboard.press('Meta+Enter')
    await page.waitForURL('**/preview')
  })

  test.each(MODES)('the expiry summary follows the chosen chips, %s', async (_name, options) => {
    const page = await open(options)
    await unfold(page, 'expiry')
    expect(await page.isVisible('#expire_after')).toBe(false)
    await page.check('#expire-1')
    await page.check('#views-0')
    expect(await lineOf(page)).toBe('Opens once · 1 hour')
    await page.fill('#payload', 'x')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    expect(await page.textContent('main')).toContain('It can be opened once, until')
  })

  test('the expiry summary follows the exact fields', async () => {
    const page = await open()
    await fillCreateForm(page, { time: [36, 'hours'], views: 12 })
    expect(await lineOf(page)).toBe('Opens 12 times · 36 hours')
  })

  test.each(MODES)('a link without a scheme opens with https, %s', async (_name, options) => {
    const page = await open(options)
    await fillCreateForm(page, { kind: 'url', payload: 'www.example.org/a?b=c' })
    if (options === LAPTOP) {
      await page.press('#link', 'Tab')
      expect(await page.inputValue('#link')).toBe('https://www.example.org/a?b=c')
    }
    await handOver(page)
    expect(await page.content()).toContain('https://www.example.org/a?b=c')
  })

  test.each(MODES)('a Wi-Fi network becomes a QR code that joins it, %s', async (_name, options) => {
    const page = await open(options)
    await page.check('#kind-wifi')
    expect(await page.isVisible('#qr')).toBe(false)
    await page.fill('#wifi_network', 'büro; oben')
    await page.fill('#wifi_password', 'k3m9"qx:2v')
    await page.check('#wifi_hidden')
    const text = 'WIFI:T:WPA;S:büro\\; oben;P:k3m9\\"qx\\:2v;H:true;;'
    if (options === LAPTOP) {
      // The code is drawn a moment after the last change.
      const drawn = () => page.locator('[data-drawn] svg').evaluate((svg) => svg.outerHTML)
      await waitUntil(async () => readQr(await drawn()) === text)
    }
    await handOver(page)
    expect(readQr(await page.locator('svg.qr').evaluate((svg) => svg.outerHTML))).toBe(text)
  })

  test('an open network needs no password', async () => {
    const page = await open(UNSCRIPTED)
    await page.check('#kind-wifi')
    await page.fill('#wifi_network', 'guests')
    await page.check('#wifi-nopass')
    expect(await page.isVisible('#wifi_password')).toBe(false)
    await handOver(page)
    expect(readQr(await page.locator('svg.qr').evaluate((svg) => svg.outerHTML))).toBe(
      'WIFI:T:nopass;S:guests;;',
    )
  })

  test.each(MODES)('the field of a QR code keeps its width while it is typed, %s', async (_name, options) => {
    const page = await open(options)
    await page.check('#kind-qr')
    const widths = () =>
      page.locator('.qr-fields, #qr').evaluateAll((all) => all.map((one) => one.clientWidth))
    const [whole = 0, field = 0] = await widths()
    await page.fill('#qr', 'k')
    if (options === LAPTOP) await page.locator('[data-drawn] svg').waitFor()
    expect(await widths()).toEqual([whole, field])
    // Without a script there is no picture beside the field.
    if (options === UNSCRIPTED) expect(whole - field).toBeLessThan(8)
  })

  test('the script that draws QR codes is loaded only for QR codes', async () => {
    const page = await open()
    const loaded = () =>
      page.evaluate(
        () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/qr-')).length,
      )
    expect(await loaded()).toBe(0)
    await fillCreateForm(page, { kind: 'qr', payload: 'now' })
    await page.locator('[data-drawn] svg').waitFor()
    await waitUntil(async () => (await loaded()) > 0)
    expect(await loaded()).toBe(1)
    await page.fill('#qr', '')
    await page.locator('[data-drawn] svg').waitFor({ state: 'detached' })
  })

  test('changing the kind keeps what was typed', async () => {
    const page = await open()
    await page.fill('#payload', 'example.org')
    await page.check('#kind-url')
    expect(await page.inputValue('#link')).toBe('example.org')
    await page.check('#kind-qr')
    expect(await page.inputValue('#qr')).toBe('example.org')
    await page.check('#kind-text')
    expect(await page.inputValue('#payload')).toBe('example.org')
  })

  test('a text is measured in bytes of UTF-8 before it is sent', async () => {
    const page = await open()
    const sent = watchForms(page)
    await page.fill('#payload', '🔑'.repeat(513))
    await page.click(SUBMIT)
    expect(await page.textContent('#payload-problem')).toBe('This is too long: at most 2\u00a0KiB.')
    expect(await page.locator(':focus').getAttribute('id')).toBe('payload')
    expect(sent).toEqual([])
    await page.fill('#payload', '🔑'.repeat(512))
    expect(await page.textContent('#payload-problem')).toBe('')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
  })

  test('too many or too large files are reported, with the limit, before they are sent', async () => {
    const page = await openAsMember()
    const sent = watchForms(page)
    await page.check('#kind-file')
    const file = (name: string, size: number) => ({ name, mimeType: 'x/y', buffer: Buffer.alloc(size) })
    await page.setInputFiles(
      '#files',
      ['a', 'b', 'c'].map((name) => file(name, 1)),
    )
    await page.click(SUBMIT)
    expect(await page.textContent('#files-problem')).toBe('Too many: at most 2 files.')
    await page.setInputFiles('#files', [file('small', 1), file('large', 1_100_000)])
    await page.click(SUBMIT)
    expect(await page.textContent('#files-problem')).toContain(
      '“\u2068large\u2069” is too large: a file can have at most 1\u00a0MiB',
    )
    expect(sent).toEqual([])
    await page.getByRole('button', { name: 'Remove: large' }).click()
    expect(await page.textContent('#files-problem')).toBe('')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
  })

  test('files of another kind do not block sending', async () => {
    const page = await openAsMember()
    await page.check('#kind-file')
    const buffer = Buffer.alloc(1_100_000)
    await page.setInputFiles('#files', { name: 'large', mimeType: 'x/y', buffer })
    await page.check('#kind-text')
    await page.fill('#payload', 'a text after all')
    await handOver(page)
    expect(await page.locator('.downloads li').count()).toBe(0)
  })

  test('a file dropped by an anonymous guest keeps the page and explains that files need an account', async () => {
    const page = await open()
    await page.fill('#payload', 'typed')
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['x'], 'a.txt'))
      document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
    })
    expect(await page.isChecked('#kind-file')).toBe(true)
    expect(await page.innerText('form.create')).toContain('You need an account to share files.')
    expect(await page.isVisible(SUBMIT)).toBe(false)
    await page.check('#kind-text')
    expect(await page.inputValue('#payload')).toBe('typed')
  })

  test('signing in to send files leads back to the file form', async () => {
    const page = await open(UNSCRIPTED)
    await page.check('#kind-file')
    await follow(page, () => page.locator('form.create').getByRole('link', { name: 'Sign in' }).click())
    await page.fill('#email', MEMBER)
    await page.fill('#password', PASSWORD)
    await page.click('main button[type=submit]')
    await page.waitForURL('**/?kind=file*')
    expect(await page.isVisible('#files')).toBe(true)
  })

  test('the page of the link and its message show the name of the recipient', async () => {
    const page = await openAsMember()
    expect(await page.locator(':focus').getAttribute('id')).toBe('payload')
    await page.fill('#name', 'Anna')
    await page.fill('#payload', 'x')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    expect(await page.innerText('main')).toContain('Text · for Anna')
    expect(await page.inputValue('#message')).toStartWith('Hi Anna,\n')
    expect(await page.getAttribute('[data-mails]', 'href')).toContain('body=Hi%20Anna%2C')
    await page.goto(`${it.server.url}/pushes`)
    expect(await page.innerText('main')).toContain('Anna')
    await page.goto(it.server.url)
    await page.context().clearCookies()
    await page.reload()
    expect(await page.locator('#name').count()).toBe(0)
  })

  test('leaving the page asks only if something would be lost', async () => {
    const page = await open(LAPTOP, it.open)
    let asked = 0
    page.on('dialog', (dialog) => {
      asked += 1
      return dialog.accept()
    })
    await page.click('#passphrase')
    await page.goto(`${it.server.url}/sign-in`)
    expect(asked).toBe(0)
    await page.goto(it.server.url)
    await page.click('#payload')
    await page.keyboard.type('a secret')
    await page.goto(`${it.server.url}/sign-in`)
    expect(asked).toBe(1)
    await page.goto(it.server.url)
    await page.click('#payload')
    await page.keyboard.type('sent')
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    expect(asked).toBe(1)
  })

  test('an upload shows the time left, can be cancelled, and keeps what was typed', async () => {
    const path = join(it.folder(), 'slow.bin')
    writeFileSync(path, '')
    truncateSync(path, 1_000_000)
    const page = await open({ viewport: { width: 360, height: 500 } }, it.openAsMember)
    const client = await page.context().newCDPSession(page)
    // Half a minute: enough to cancel it on a busy machine.
    const speed = { latency: 0, downloadThroughput: -1, uploadThroughput: 30_000 }
    await page.check('#kind-file')
    await page.setInputFiles('#files', path)
    await page.fill('#payload', 'the message')
    await page.fill('#passphrase', 'sesame')
    await client.send('Network.emulateNetworkConditions', { offline: false, ...speed })
    await page.click(SUBMIT)
    await page.locator('[data-progress] output', { hasText: /\d % · .+\/s · \d+ seconds? left/ }).waitFor()
    await page.evaluate(() => window.scrollTo(0, 0))
    const box = await page.locator('[data-cancel]').boundingBox()
    expect(box !== null && box.y >= 0 && box.y + box.height <= 500).toBe(true)
    await page.click('[data-cancel]')
    await page.locator('[data-progress] [role=alert]', { hasText: 'Cancelled' }).waitFor()
    await client.send('Network.emulateNetworkConditions', { ...speed, offline: true, uploadThroughput: -1 })
    await page.click(SUBMIT)
    await page.locator('[data-progress] [role=alert]', { hasText: 'connection was lost' }).waitFor()
    expect(await page.inputValue('#payload')).toBe('the message')
    expect(await page.inputValue('#passphrase')).toBe('sesame')
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['slow.bin'])
    await client.send('Network.emulateNetworkConditions', { ...speed, offline: false, uploadThroughput: -1 })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.waitForURL('**/preview')
  })

  test('a refused upload unfolds the section of the faulty field and shows the problem there', async () => {
    const page = await openAsMember()
    await fillCreateForm(page, { kind: 'file', payload: 'kept', time: [400, 'days'] })
    await page.setInputFiles('#files', { name: 'a', mimeType: 'x/y', buffer: Buffer.alloc(10) })
    await page.click('.expiry > summary')
    await page.click(SUBMIT)
    await page.locator('.notice.bad:focus').waitFor()
    expect(await page.isVisible('#expire_after-problem')).toBe(true)
    expect(await page.textContent('#expire_after-problem')).toBe('Please enter a number from 1 to 90.')
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['a'])
    await page.locator('.notice.bad a').click()
    expect(await page.inputValue('#payload')).toBe('kept')
  })
})
