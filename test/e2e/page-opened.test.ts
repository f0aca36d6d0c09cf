// An opened push and a new secret link in a real browser: what is hidden, copied, saved, sent and shared.

import { beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { needs } from '../support/needs.ts'
import { follow, hear } from '../support/pressing.ts'
import { MEMBER } from '../support/tour.ts'
import { FAILED, MODES, PHONE, SCRIPTED, UNSCRIPTED, useHandover } from '../support/use-handover.ts'
import { waitUntil } from '../support/waiting.ts'
import { readZip } from '../support/zip.ts'

needs('chromium').describe('in a browser', () => {
  const it = useHandover()
  const { open: openNew, openAgain: open, createOn, press } = it
  let headers: { authorization: string }

  beforeAll(async () => {
    const token = (await it.server.command(['token', 'create', MEMBER])).stdout.trim()
    headers = { authorization: `Bearer ${token}` }
  })

  async function create(push: object): Promise<{ html_url: string; url_token: string }> {
    const response = await fetch(`${it.server.url}/api/v2/pushes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ push }),
    })
    expect(response.status).toBe(201)
    return response.json()
  }

  async function openOn(page: Page, push: object): Promise<void> {
    await page.goto((await create(push)).html_url)
    await press(page)
    await page.waitForSelector('.secret')
  }

  const clipboard = (page: Page) => page.evaluate('navigator.clipboard.readText()')

  test.each(MODES)('a password is masked until the eye is pressed, %s', async (_name, options) => {
    const page = await open(options)
    await openOn(page, { payload: 'k3m9-qx2v', expire_after_views: 1 })
    expect(await page.isVisible('#payload')).toBe(false)
    expect(await page.textContent('.dots')).toBe('•'.repeat(12))
    expect(await page.textContent('.notice.last')).toBe(
      'This was the last time it could be opened. Copy it now.',
    )
    if (options.javaScriptEnabled !== false) {
      expect((await hear(page.locator('button.primary[data-copies=payload]'))).label).toBe('Copied')
      expect(await clipboard(page)).toBe('k3m9-qx2v')
      expect(await page.isVisible('#payload')).toBe(false)
    }
    await page.click('.field-of-dots > summary')
    await page.waitForSelector('#payload', { state: 'visible' })
    expect(await page.textContent('#payload')).toBe('k3m9-qx2v')
    await page.click('.field-of-dots > summary')
    await page.waitForSelector('#payload', { state: 'hidden' })
  })

  test('a message is shown unmasked', async () => {
    const page = await open(UNSCRIPTED)
    await openOn(page, { payload: 'The code is 4711. Please close the door.' })
    expect(await page.isVisible('#payload')).toBe(true)
    expect(await page.textContent('.remaining')).toContain('4 more times')
  })

  test('copying a labelled line copies only its value', async () => {
    const payload = 'user: ann\npassword: k3m9 qx2v'
    const page = await open(SCRIPTED)
    await openOn(page, { payload })
    expect((await hear(page.getByRole('button', { name: 'Copy password' }))).isDone).toBe(true)
    expect(await clipboard(page)).toBe('k3m9 qx2v')
    expect(await page.textContent('#payload')).toBe(payload)
  })

  test('a password among lines is masked until its eye is pressed', async () => {
    const page = await open(UNSCRIPTED)
    await openOn(page, { payload: 'user: ann\npassword: k3m9 qx2v' })
    const dots = () =>
      page
        .locator('#payload bdi')
        .evaluateAll((all) =>
          all.map((one) => getComputedStyle(one).getPropertyValue('-webkit-text-security')),
        )
    expect(await dots()).toEqual(['none', 'disc'])
    await page.check('.line input')
    expect(await dots()).toEqual(['none', 'none'])
  })

  /** Runs in the page: returns the characters of a text in their visual order, from left to right. */
  function readAcross(element: Element): string {
    const document = element.ownerDocument
    const node = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const found: { character: string; x: number }[] = []
    while (node.nextNode() !== null) {
      const text = node.currentNode.textContent ?? ''
      for (let at = 0; at < text.length; at += 1) {
        range.setStart(node.currentNode, at)
        range.setEnd(node.currentNode, at + 1)
        found.push({ character: text.charAt(at), x: range.getBoundingClientRect().left })
      }
    }
    found.sort((one, other) => one.x - other.x)
    return found
      .map(({ character }) => character)
      .join('')
      .trim()
  }

  test('a right-to-left page shows a password in the typed order', async () => {
    const page = await openNew({ ...UNSCRIPTED, locale: 'ar' })
    const read = (selector: string) => page.locator(selector).first().evaluate(readAcross)
    await openOn(page, { payload: '!abc123?.' })
    await page.click('.field-of-dots > summary')
    expect(await read('#payload')).toBe('!abc123?.')
    await openOn(page, { payload: 'كلمة المرور: (abc)!\n+abc.\nuser: !12?' })
    expect(await read('#line-0')).toBe('(abc)!')
    expect(await read('.line:nth-child(2)')).toBe('+abc.')
    expect(await read('.line:nth-child(3)')).toBe('user: !12?')
    const prose = '(The code is 4711.) Close the door.'
    await openOn(page, { payload: prose })
    expect(await read('#payload')).toBe(prose)
    await openOn(page, { kind: 'qr', payload: 'WIFI:T:WPA;S:+office.;P:!12?;;' })
    expect([await read('#wifi-network'), await read('#wifi-password')]).toEqual(['+office.', '!12?'])
    await openOn(page, { payload: 'x', files: [{ filename: '+plan (2).pdf', data: 'eA==' }] })
    expect(await read('.file bdi')).toBe('+plan (2).pdf')
  })

  test('a failed copy of a line is reported', async () => {
    const page = await openNew(SCRIPTED)
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false',
    )
    await openOn(page, { payload: 'one\ntwo' })
    const said = await hear(page.getByRole('button', { name: 'Copy line 2' }))
    expect(said).toMatchObject({ told: FAILED, isTold: true, isDone: false })
  })

  test.each(MODES)('a text is saved as a file, exactly, %s', async (_name, options) => {
    const payload = 'one\r\ntwo 🔑\n'
    const page = await open(options)
    await openOn(page, { payload, expire_after_views: 1 })
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as file' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('secret.txt')
    expect(readFileSync(await download.path(), 'utf8')).toBe(payload)
    expect(await page.isVisible('.secret')).toBe(true)
  })

  test.each(MODES)('all files are saved at once, %s', async (_name, options) => {
    const files = ['first.txt', 'zweite – “2”.txt'].map((filename) => ({
      filename,
      data: Buffer.from(`of ${filename}`).toString('base64'),
    }))
    const page = await open(options)
    await openOn(page, { payload: 'Here they are.', files })
    expect(await page.textContent('main')).toMatch(/Files can be saved until .*\d\d:\d\d/)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save all' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('oncebox-files.zip')
    const entries = readZip(readFileSync(await download.path()))
    expect(entries.map(({ name, content }) => [name, content.toString()])).toEqual([
      ['first.txt', 'of first.txt'],
      ['zweite – “2”.txt', 'of zweite – “2”.txt'],
    ])
  })

  test('an address opens in a tab without referrer and opener', async () => {
    const page = await openNew(SCRIPTED)
    const target = `${it.server.url}/up`
    await openOn(page, { kind: 'url', payload: target })
    const [tab] = await Promise.all([page.waitForEvent('popup'), page.click('.secret a.primary')])
    await tab.waitForURL(target)
    expect(await page.isVisible('.secret')).toBe(true)
    expect(await tab.evaluate('[document.referrer, opener]')).toEqual(['', null])
  })

  test('the message is edited, copied, sent and shared', async () => {
    const page = await openNew(SCRIPTED)
    await page.addInitScript('navigator.share = async (data) => { window.shared = data }')
    const { html_url, url_token } = await create({ payload: 'x' })
    await page.goto(`${it.server.url}/p/${url_token}/preview`)
    await page.fill('#message', `Für dich & mich:\n${html_url}`)
    const mail = new URL((await page.getAttribute('[data-mails]', 'href')) ?? '')
    expect(mail.protocol).toBe('mailto:')
    expect(mail.searchParams.get('body')).toBe(`Für dich & mich:\r\n${html_url}`)
    expect(mail.searchParams.get('subject')).toBe('I am sharing something with you')
    expect((await hear(page.getByRole('button', { name: 'Copy message' }))).label).toBe('Copied')
    expect(await clipboard(page)).toBe(`Für dich & mich:\n${html_url}`)
    await page.getByRole('button', { name: 'Share' }).click()
    await waitUntil(async () => (await page.evaluate('window.shared')) !== undefined)
    expect(await page.evaluate('window.shared')).toEqual({ text: `Für dich & mich:\n${html_url}` })
    expect((await hear(page.getByRole('button', { name: 'Copy link' }))).isDone).toBe(true)
    expect(await clipboard(page)).toBe(html_url)
  })

  test('a browser that cannot share gets no share button', async () => {
    const page = await openNew(SCRIPTED)
    await page.addInitScript('Object.defineProperty(navigator, "share", { value: undefined })')
    await page.goto(`${it.server.url}/p/${(await create({ payload: 'x' })).url_token}/preview`)
    await page.getByRole('button', { name: 'Copy link' }).waitFor()
    expect(await page.isVisible('[data-shares]')).toBe(false)
  })

  test('the QR code is beside the link on a desktop and below it on a phone', async () => {
    const { url_token } = await create({ payload: 'x' })
    const placesOn = async (options: BrowserContextOptions) => {
      const page = await open(options)
      await page.goto(`${it.server.url}/p/${url_token}/preview`)
      const [link, code] = await Promise.all([
        page.locator('#link').boundingBox(),
        page.locator('svg.qr').boundingBox(),
      ])
      return {
        right: (code?.x ?? 0) > (link?.x ?? 0) + (link?.width ?? 0),
        below: (code?.y ?? 0) > (link?.y ?? 0) + 100,
      }
    }
    expect(await placesOn(SCRIPTED)).toEqual({ right: true, below: false })
    expect(await placesOn(PHONE)).toEqual({ right: false, below: true })
  })

  test('an account uses its own message template', async () => {
    const page = await it.openAsMember(SCRIPTED, open)
    await page.goto(`${it.server.url}/account/message`)
    await page.fill('#message', 'Hi! \n({views}, until {expires})')
    await page.evaluate("document.getElementById('message').setSelectionRange(4, 4)")
    await page.getByRole('button', { name: '{link}' }).click()
    expect(await page.inputValue('#message')).toBe('Hi! {link}\n({views}, until {expires})')
    expect(await page.textContent('[data-previews]')).toMatch(/^Hi! http\S+\n\(5 times, until .*UTC\)$/)
    await press(page)
    await page.waitForSelector('.notice.good')
    expect(await page.textContent('[data-previews]')).toMatch(/^Hi! http\S+\n\(5 times, until .*UTC\)$/)
    const { html_url, url_token } = await create({ payload: 'x', expire_after_views: 3 })
    await page.goto(`${it.server.url}/p/${url_token}/preview`)
    expect(await page.inputValue('#message')).toStartWith(`Hi! ${html_url}\n(3 times, until `)
    await page.goto(`${it.server.url}/account/message`)
    await follow(page, () => page.getByRole('button', { name: 'Use the standard message' }).click())
    await page.waitForSelector('.notice.good')
    expect(await page.inputValue('#message')).toContain('I am sharing something with you')
  })

  test('one press copies the link, even without a clipboard API', async () => {
    const page = await openNew(SCRIPTED)
    const link = await createOn(page, { payload: 'x' })
    const button = page.locator('[data-copies=link]')
    const copied = { label: 'Copied', told: 'Copied', isTold: false, isDone: true }
    expect(await hear(button)).toEqual(copied)
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(link)
    // Imitates plain HTTP on a network.
    await page.evaluate('navigator.clipboard.writeText("else")')
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })')
    await page.reload()
    expect(await hear(button)).toEqual(copied)
    const other = await open(SCRIPTED)
    await other.goto(it.server.url)
    await other.bringToFront()
    expect(await other.evaluate('navigator.clipboard.readText()')).toBe(link)
  })

  test('a failed copy is reported', async () => {
    const page = await openNew(SCRIPTED)
    await page.addInitScript(
      'Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false',
    )
    await createOn(page, { payload: 'x' })
    const said = await hear(page.locator('[data-copies=link]'))
    expect(said).toMatchObject({ label: FAILED, told: FAILED, isDone: false })
  })

  test('texts and single lines are copied exactly', async () => {
    const payload = 'one\r\ntwo\r\n\r\nthree'
    const { url_token, html_url } = await (await it.server.create({ payload })).json()
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

  test('a revealed password is hidden again after a while', async () => {
    const reader = await openNew(SCRIPTED)
    await reader.clock.install()
    await reader.goto((await create({ payload: 'kept' })).html_url)
    await press(reader)
    // Wait for this event, which the page counts and which comes after the press.
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
})
