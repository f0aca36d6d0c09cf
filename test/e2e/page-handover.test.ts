// Handing over and receiving in a real browser, against the binary: with scripts and without, on a desk and on a phone.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser, measureLooks, skipBrowserTests } from '../support/chromium.ts'
import { fillCreateForm, SUBMIT, unfold } from '../support/create-page.ts'
import { follow, hear } from '../support/pressing.ts'
import { readQr } from '../support/qr.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'

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
  const visitors = createVisitors()

  beforeAll(async () => {
    server = await stage.start({ flags: ['--max-file-bytes', '1GiB'] })
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    browser = await launchBrowser()
  })

  afterEach(async () => {
    const { outside, complaints } = await visitors.leave()
    expect(outside).toEqual([])
    // A refusal that a page shows is no fault.
    expect(complaints.filter((text) => !/status of (404|409|422|429)/.test(text))).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  const open = (options: BrowserContextOptions): Promise<Page> => visitors.open(browser, server.url, options)

  const createOn = async (
    page: Page,
    fields: { kind?: string; payload?: string; views?: number; passphrase?: string },
  ) => {
    await page.goto(server.url)
    await fillCreateForm(page, fields)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    return ((await page.textContent('#link')) ?? '').trim()
  }

  const press = (page: Page) => follow(page, () => page.click('main form button.primary'))

  /** The text as a reader gets it: shown by pressing, where it is hidden. */
  const readText = async (page: Page) => {
    // What is like a password is hidden; a message is not.
    const dots = page.locator('.secret > details > summary')
    if ((await dots.count()) > 0) {
      expect(await page.isVisible('#payload')).toBe(false)
      await dots.click()
    }
    await page.waitForSelector('#payload', { state: 'visible' })
    return page.textContent('#payload')
  }

  const expectGone = async (page: Page, link: string) => {
    const response = await page.goto(link)
    expect(response?.status()).toBe(404)
    expect(await page.textContent('h1')).toBe('This link no longer works')
  }

  test.each(MODES)('a text goes from hand to hand once, and is gone, %s', async (_name, options) => {
    const payload = '  pa$$ <b>&amp; \u202eליא 🔑\n\nsecond line\tend '
    const link = await createOn(await open(options), { payload, views: 1 })
    const reader = await open(options)
    await reader.goto(link)
    expect(await reader.content()).not.toContain('second line')
    await press(reader)
    expect(await readText(reader)).toBe(payload)
    expect(await reader.textContent('.notice.last')).toContain('the last time it could be opened')
    expect(await reader.context().cookies()).toEqual([])
    await expectGone(reader, link)
  })

  test.each(MODES)('a link says where it leads before it leads there, %s', async (_name, options) => {
    const address = 'https://files.example.org/a?b=c&d=%20#e'
    const link = await createOn(await open(options), { kind: 'url', payload: address, views: 1 })
    const reader = await open(options)
    await reader.goto(link)
    await press(reader)
    expect(await reader.textContent('.secret strong')).toBe('files.example.org')
    expect(await reader.textContent('#payload')).toBe(address)
    const go = reader.locator('a.button.primary')
    expect(await go.getAttribute('href')).toBe(address)
    expect(await go.getAttribute('rel')).toContain('noreferrer')
    await expectGone(reader, link)
  })

  test.each(MODES)('a QR code is drawn and can be read, %s', async (_name, options) => {
    const payload = 'WIFI:T:WPA;S:büro;P:k3m9-qx2v;;'
    const link = await createOn(await open(options), { kind: 'qr', payload, views: 1 })
    const reader = await open(options)
    await reader.goto(link)
    await press(reader)
    expect(readQr(await reader.locator('svg.qr').evaluate((svg) => svg.outerHTML))).toBe(payload)
    expect(await reader.textContent('#payload')).toBe(payload)
    expect(await reader.textContent('#wifi-network')).toBe('büro')
    expect(await reader.textContent('#wifi-password')).toBe('k3m9-qx2v')
    await expectGone(reader, link)
  })

  test.each(MODES)('files go from hand to hand, %s', async (_name, options) => {
    const folder = stage.folder()
    const small = join(folder, 'ünï “quoted”.txt')
    writeFileSync(small, 'the content')
    const large = join(folder, 'large.bin')
    writeFileSync(large, Buffer.alloc(3_000_000, 'abc'))
    const sender = await open(options)
    await signIn(sender, server.url, MEMBER)
    await sender.goto(server.url)
    await sender.check('#kind-file')
    await sender.setInputFiles('#files', [small, large])
    await fillCreateForm(sender, { kind: 'file', views: 1 })
    await sender.click(SUBMIT)
    await sender.waitForURL('**/preview')
    const link = ((await sender.textContent('#link')) ?? '').trim()

    const reader = await open(options)
    await reader.goto(link)
    await press(reader)
    for (const [path, name] of [
      [small, 'ünï “quoted”.txt'],
      [large, 'large.bin'],
    ] as const) {
      const [download] = await Promise.all([
        reader.waitForEvent('download'),
        reader.getByRole('link', { name }).click(),
      ])
      expect(download.suggestedFilename()).toBe(name)
      expect(readFileSync(await download.path())).toEqual(readFileSync(path))
    }
    await expectGone(reader, link)
  })

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
      await page.goto(server.url)
      await page.fill('#payload', 'opened')
      await page.fill('#passphrase', 'sesame')
      expect(await styleOf(page)).toBe('disc')
      await page.check('.unseen .show input')
      expect(await styleOf(page)).toBe('none')
      await page.click(SUBMIT)
      await page.waitForURL('**/preview')

      const reader = await open(options)
      await reader.goto(((await page.textContent('#link')) ?? '').trim())
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
    await page.goto(server.url)
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
    expect(await reader.locator(':focus').getAttribute('role')).toBe('alert')
    await reader.keyboard.press('Tab')
    await reader.keyboard.press('Enter')
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

  test('the link is copied with one press, also where there is no clipboard API', async () => {
    const page = await open(SCRIPTED)
    const link = await createOn(page, { payload: 'x' })
    const button = page.locator('[data-copies=link]')
    const copied = { label: 'Copied', told: 'Copied', isTold: false, isDone: true }
    expect(await hear(button)).toEqual(copied)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    // As over plain HTTP on a network.
    await page.evaluate('navigator.clipboard.writeText("else")')
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.reload()
    expect(await hear(button)).toEqual(copied)
    const other = await open(SCRIPTED)
    await other.goto(server.url)
    await other.bringToFront()
    expect(await other.evaluate('navigator.clipboard.readText()')).toBe(link)
  })

  test('a copy that fails says so', async () => {
    const page = await open(SCRIPTED)
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false',
    )
    await createOn(page, { payload: 'x' })
    const said = await hear(page.locator('[data-copies=link]'))
    expect(said).toMatchObject({ label: FAILED, told: FAILED, isDone: false })
  })

  test('texts come out of the clipboard exactly, line by line too', async () => {
    const payload = 'one\r\ntwo\r\n\r\nthree'
    const { url_token, html_url } = await (await server.create({ payload })).json()
    expect(url_token).toHaveLength(26)
    const reader = await open(SCRIPTED)
    await reader.goto(html_url)
    await press(reader)
    expect((await hear(reader.locator('[data-copies=payload]'))).label).toBe('Copied')
    expect(await reader.evaluate('navigator.clipboard.readText()')).toBe(payload)
    const line = await hear(reader.getByRole('button', { name: 'Copy line 4' }))
    expect(line).toMatchObject({ told: 'Copied', isDone: true })
    expect(await reader.evaluate('navigator.clipboard.readText()')).toBe('three')
  })

  test('going back, reloading and a second tab after revealing spend nothing', async () => {
    const link = await createOn(await open(SCRIPTED), { payload: 'kept', views: 2 })
    const first = await open(SCRIPTED)
    const second = await first.context().newPage()
    await first.goto(link)
    await second.goto(link)
    await press(first)
    await first.waitForSelector('.secret')
    await first.reload()
    expect(await first.textContent('.notice')).toContain('already opened this')
    expect(await first.isVisible('#payload')).toBe(false)
    await first.goBack()
    expect(await first.locator('.secret').count()).toBe(0)
    // The other tab opens the second view.
    await press(second)
    expect(await readText(second)).toBe('kept')
    expect(await second.textContent('.notice.last')).toContain('the last time it could be opened')
    await first.reload()
    expect(await first.textContent('h1')).toBe('This link no longer works')
  })

  test('a shown text is hidden again after a while', async () => {
    const link = await createOn(await open(SCRIPTED), { payload: 'kept' })
    const reader = await open(SCRIPTED)
    await reader.clock.install()
    await reader.goto(link)
    await press(reader)
    // The page counts from this event, which comes after the press.
    await reader.locator('.secret > details').evaluate((details) => {
      const toggled = new Promise((resolve) => details.addEventListener('toggle', resolve))
      Object.assign(window, { toggled: toggled.then(() => true) })
    })
    await reader.locator('.secret > details > summary').click()
    expect(await reader.evaluate('window.toggled')).toBe(true)
    expect(await reader.isVisible('#payload')).toBe(true)
    await reader.clock.runFor(61_000)
    expect(await reader.isVisible('#payload')).toBe(false)
    expect(await reader.textContent('[data-hiding]')).toContain('Hidden again')
  })

  test('whoever receives may delete, when that is allowed', async () => {
    const link = await createOn(await open(UNSCRIPTED), { payload: 'x' })
    const reader = await open(UNSCRIPTED)
    await reader.goto(link)
    await press(reader)
    await reader.locator('details', { hasText: 'Delete it now' }).locator('summary').click()
    await follow(reader, () => reader.click('button.danger'))
    expect(await reader.textContent('h1')).toBe('It is deleted')
    await expectGone(reader, link)

    const kept = await (await server.create({ payload: 'x', deletable_by_viewer: false })).json()
    await reader.goto(kept.html_url)
    await press(reader)
    expect(await reader.locator('button.danger').count()).toBe(0)
  })

  test('what was typed stays when something was wrong, with the problem beside its field', async () => {
    for (const options of [UNSCRIPTED, SCRIPTED]) {
      const page = await open(options)
      await page.goto(server.url)
      const typed = { kind: 'url', payload: 'javascript:alert(1)', passphrase: 'sesame' }
      await fillCreateForm(page, { ...typed, time: [12, 'hours'] })
      await unfold(page, 'options')
      await page.uncheck('#deletable_by_viewer')
      await follow(page, () => page.click(SUBMIT))
      await page.waitForSelector('.notice.bad')
      expect(await page.textContent('#link-problem')).toContain('begins with https://')
      expect(await page.inputValue('#link')).toBe('javascript:alert(1)')
      expect(await page.isChecked('#kind-url')).toBe(true)
      expect(await page.inputValue('#expire_after')).toBe('12')
      expect(await page.inputValue('[name="push[expire_unit]"]')).toBe('hours')
      expect(await page.inputValue('#passphrase')).toBe('sesame')
      expect(await page.isChecked('#deletable_by_viewer')).toBe(false)
      await page.fill('#link', 'https://example.org/')
      await page.click(SUBMIT)
      await page.waitForURL('**/preview')
      expect(await page.textContent('.lead')).toContain('5 views or 12 hours')
    }
  })

  test('the generator makes what it says, and remembers its options', async () => {
    const page = await open(SCRIPTED)
    await page.goto(server.url)
    await unfold(page, 'generator')
    await page.locator('#generated:not(:empty)').waitFor()
    const made = new Set<string>()
    for (let n = 0; n < 20; n += 1) {
      made.add((await page.textContent('#generated')) ?? '')
      await page.click('[data-again]')
    }
    expect(made.size).toBe(20)
    for (const text of made)
      expect(text).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!#$%&*+\-=?@^_~]).{20}$/)
    expect(await page.textContent('[data-strength]')).toContain('Excellent')
    await page.fill('#generator-length', '8')
    await page.locator('#generator-length').press('Enter')
    for (const name of ['upper', 'marks', 'lower']) await page.uncheck(`#generator-${name}`)
    expect(await page.textContent('#generated')).toMatch(/^\d{8}$/)
    expect(await page.textContent('[data-strength]')).toContain('Weak')
    await page.selectOption('#generator-mode', 'words')
    await page.locator('#generated', { hasText: /^[a-z]+(-[a-z]+){5}$/ }).waitFor()
    await page.click('[data-use]')
    expect(await page.inputValue('#payload')).toBe((await page.textContent('#generated')) ?? '-')
    expect(page.url()).toBe(`${server.url}/`)
    await page.reload()
    await unfold(page, 'generator')
    await page.locator('#generated', { hasText: /^[a-z]+(-[a-z]+){5}$/ }).waitFor()
    expect(await page.isChecked('#generator-upper')).toBe(false)
  })

  test('the generator unfolds directly below its field, and its button is there again once it is closed', async () => {
    const page = await open(SCRIPTED)
    await page.goto(server.url)
    const opener = page.locator('[data-opens=generator]')
    expect(await page.isVisible('details.generator')).toBe(false)
    await opener.click()
    const [field, box] = [page.locator('#payload'), page.locator('details.generator')]
    const [above, below] = [await field.boundingBox(), await box.boundingBox()]
    expect((below?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0)).toBeWithin(0, 80)
    expect(await opener.getAttribute('aria-expanded')).toBe('true')
    await page.keyboard.press('Enter')
    await box.waitFor({ state: 'hidden' })
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true)
    expect(await opener.getAttribute('aria-expanded')).toBe('false')
  })

  test('what is typed is counted, and hidden and shown', async () => {
    const page = await open(SCRIPTED)
    await page.goto(server.url)
    await page.fill('#payload', 'zwei\nZeilen 🔑')
    expect(await page.textContent('[data-counts]')).toBe('Characters: 13 · Lines: 2')
    await page.getByRole('button', { name: 'Hide' }).click()
    expect(
      await page.evaluate('getComputedStyle(document.getElementById("payload")).webkitTextSecurity'),
    ).toBe('disc')
    await page.locator('[data-masks]').click()
    expect(
      await page.evaluate('getComputedStyle(document.getElementById("payload")).webkitTextSecurity'),
    ).toBe('none')
  })

  test('files are chosen, dropped and pasted, and taken out again', async () => {
    const page = await open(SCRIPTED)
    await signIn(page, server.url, MEMBER)
    await page.goto(server.url)
    const give = (event: string, name: string) =>
      page.evaluate(
        ([kind, filename]) => {
          const transfer = new DataTransfer()
          transfer.items.add(new File(['x'], filename ?? ''))
          const init = { bubbles: true, cancelable: true }
          const target = document.querySelector('form.create')
          target?.dispatchEvent(
            kind === 'paste'
              ? new ClipboardEvent('paste', { ...init, clipboardData: transfer })
              : new DragEvent(kind ?? '', { ...init, dataTransfer: transfer }),
          )
        },
        [event, name],
      )
    await give('drop', 'dropped.txt')
    await give('paste', 'pasted.png')
    expect(await page.isChecked('#kind-file')).toBe(true)
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['dropped.txt', 'pasted.png'])
    await page.getByRole('button', { name: 'Remove: dropped.txt' }).click()
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['pasted.png'])
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
  })

  test('200 MB are sent with progress, and can be cancelled', async () => {
    const path = join(stage.folder(), 'large.bin')
    writeFileSync(path, '')
    truncateSync(path, 200_000_000)
    const page = await open(SCRIPTED)
    await signIn(page, server.url, MEMBER)
    const client = await page.context().newCDPSession(page)
    const throttle = (uploadThroughput: number) =>
      client.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    const send = async () => {
      await page.goto(server.url)
      await page.check('#kind-file')
      await page.setInputFiles('#files', path)
      await page.click(SUBMIT)
    }

    // Long enough to cancel it on a busy machine.
    await throttle(5_000_000)
    await send()
    await page.locator('[data-progress] output', { hasText: /[1-9]\d? % · .+\/s/ }).waitFor()
    const value = () => page.locator('#upload-progress').evaluate((bar) => (bar as HTMLProgressElement).value)
    expect(await value()).toBeGreaterThan(0)
    await page.click('[data-cancel]')
    await page.locator('[data-progress] [role=alert]', { hasText: 'Cancelled' }).waitFor()
    expect(await page.locator('.chosen bdi').allTextContents()).toEqual(['large.bin'])

    await throttle(-1)
    await page.click(SUBMIT)
    await page.waitForURL('**/preview')
    const link = ((await page.textContent('#link')) ?? '').trim()

    const reader = await open(SCRIPTED)
    await reader.goto(link)
    await press(reader)
    const [download] = await Promise.all([
      reader.waitForEvent('download'),
      reader.getByRole('link', { name: 'large.bin' }).click(),
    ])
    expect(statSync(await download.path()).size).toBe(200_000_000)
    expect(await reader.textContent('.download output.done')).toBe('Saved.')
  }, 600_000)

  test('a file that is too large is told before it is sent', async () => {
    const path = join(stage.folder(), 'too-large.bin')
    writeFileSync(path, '')
    truncateSync(path, 1_100_000_000)
    const page = await open(SCRIPTED)
    await signIn(page, server.url, MEMBER)
    await page.goto(server.url)
    await page.check('#kind-file')
    await page.setInputFiles('#files', path)
    expect(await page.textContent('#files-problem')).toBe(
      '“too-large.bin” is too large: a file can have at most 1\u00a0GiB.',
    )
    expect(await page.textContent('#files-hint')).toContain('1\u00a0GiB')
  })

  test('scanners and link previews burn nothing', async () => {
    const { url_token, html_url } = await (
      await server.create({ payload: 'left-alone-4711', expire_after_views: 1 })
    ).json()
    const agents = [
      'Slackbot-LinkExpanding 1.0',
      'facebookexternalhit/1.1',
      'WhatsApp/2.23',
      'Microsoft Office',
    ]
    for (const agent of agents) {
      for (const path of [
        html_url,
        html_url.replace(/\/r$/, ''),
        `${html_url.replace(/\/r$/, '')}/preview`,
      ]) {
        const headers = { 'user-agent': agent }
        const page = await (await fetch(path, { headers })).text()
        expect(page).not.toContain('left-alone-4711')
        expect(page).not.toMatch(/property="og:|name="description"|name="twitter:/)
        expect(page).toContain('noindex')
        expect((await fetch(path, { headers, method: 'HEAD' })).status).toBe(200)
        // A scanner that sends the form without having the page, or sends it twice.
        if (path.endsWith('/preview')) continue
        for (const body of ['', 'nonce=', 'nonce=abc']) {
          const type = { 'content-type': 'application/x-www-form-urlencoded' }
          const pressed = await fetch(path, { method: 'POST', headers: { ...headers, ...type }, body })
          expect(pressed.status).toBe(409)
          expect(await pressed.text()).not.toContain('left-alone-4711')
        }
      }
    }
    const retrieved = await (await server.retrieve(url_token)).json()
    expect(retrieved.payload).toBe('left-alone-4711')
  })

  test.each(MODES.slice(0, 2))('the owner looks without spending a view, %s', async (_name, options) => {
    const page = await open(options)
    await signIn(page, server.url, MEMBER)
    const link = await createOn(page, { payload: 'mine', views: 1 })
    await page.goto(link)
    expect(await page.textContent('main')).toContain('uses up no view')
    await press(page)
    expect(await readText(page)).toBe('mine')
    await page.goto(`${server.url}/pushes`)
    await follow(page, () => page.locator('.rows a.title').first().click())
    expect(await page.textContent('.log')).toContain('Looked at by you')
    expect(await page.textContent('.standing')).toContain('0/1 views')
    const reader = await open(options)
    await reader.goto(link)
    await press(reader)
    expect(await readText(reader)).toBe('mine')
  })

  test('nothing is wider than the narrowest phone', async () => {
    const link = await createOn(await open(SCRIPTED), { payload: `${'x'.repeat(4000)}\n${'y'.repeat(100)}` })
    const page = await open({ ...PHONE, viewport: { width: 320, height: 640 } })
    await page.goto(link)
    await press(page)
    await page.waitForSelector('.secret')
    expect((await page.evaluate(measureLooks)).overflow).toBe(0)
  })
})
