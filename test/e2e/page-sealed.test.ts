// Pushes that one browser encrypts and another decrypts: what leaves the browsers, and what happens if
// scripts, links or the server are not as they should be.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { newKey } from '../../src/age/keys.ts'
import { openText, sealText } from '../../src/age/sealing.ts'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser } from '../support/chromium.ts'
import { fillCreateForm, SUBMIT, unfold } from '../support/create-page.ts'
import { findNeedles, readFolder, readTraces, spellingsOf } from '../support/needles.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { startRecordingWire } from '../support/recording-wire.ts'
import { MEMBER, PASSWORD, signIn } from '../support/tour.ts'

const TEXT = 'Tor: 4711-PLANTED\nKeller: <b>'
const NAME = 'Vertrag PLANTED für Ann.pdf'
const CONTENT = 'content PLANTED in a file '.repeat(20_000)
const FILES = [
  { name: NAME, mimeType: 'application/pdf', buffer: Buffer.from(CONTENT) },
  { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('second') },
]
const OPEN = 'main form button.primary'
/** A host name that is not a secure context: there, browsers have no WebCrypto. */
const NAME_OF_HOST = 'box.local'
const UNSCRIPTED: BrowserContextOptions = { javaScriptEnabled: false }

needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  const visitors = createVisitors()
  let browser: Browser
  let server: Started

  beforeAll(async () => {
    browser = await launchBrowser([NAME_OF_HOST])
    server = await startServer()
  })

  afterEach(async () => {
    const { outside } = await visitors.leave()
    expect(outside).toEqual([])
  })

  afterAll(async () => {
    await browser?.close()
    await stage.clear()
  })

  async function startServer(...flags: string[]): Promise<Started> {
    const started = await stage.start({ flags })
    await started.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    return started
  }

  const open = (url = server.url, options: BrowserContextOptions = {}): Promise<Page> =>
    visitors.open(browser, url, options)

  async function openAsMember(url = server.url): Promise<Page> {
    const page = await open(url)
    await signIn(page, url, MEMBER)
    return page
  }

  type Sealed = { url?: string; text?: string; files?: typeof FILES; passphrase?: string; views?: number }

  /** Seals on the page of the form, and resolves to the whole link. */
  async function seal(page: Page, { url = server.url, text = TEXT, files = [], ...typed }: Sealed = {}) {
    await page.goto(url)
    await page.check('#end_to_end')
    if (files.length > 0) {
      await page.check('#kind-file')
      await page.setInputFiles('#files', files)
    }
    await page.fill('#payload', text)
    await fillCreateForm(page, typed)
    await page.click(SUBMIT)
    return linkOn(page)
  }

  async function linkOn(page: Page): Promise<string> {
    await page.waitForSelector('[data-lacks-key]:not([hidden])')
    return ((await page.textContent('#link')) ?? '').trim()
  }

  async function unseal(page: Page, link: string): Promise<void> {
    await page.goto('about:blank')
    await page.goto(link)
    await page.click(OPEN)
  }

  const viewsLeft = async (link: string, at = server): Promise<number> => {
    const token = /\/p\/(\w+)/.exec(link)?.[1] ?? ''
    const answer = await at.retrieve(token)
    return (await answer.json()).views_remaining + 1
  }

  const saveFile = async (page: Page, at: number) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.click(`[data-file="${at}"]`)])
    return { name: download.suggestedFilename(), text: await Bun.file(await download.path()).text() }
  }

  test('a text and files are found nowhere but in the two browsers, also on plain HTTP', async () => {
    const server = await startServer('--host', '0.0.0.0')
    const wire = await startRecordingWire(server.port, NAME_OF_HOST)
    const sender = await openAsMember(wire.url)
    expect(await sender.evaluate('isSecureContext')).toBe(false)
    const link = await seal(sender, { url: wire.url, files: FILES })
    const [, key = ''] = link.split('#')
    expect(key).toMatch(/^[\w-]{43}$/)
    expect(await sender.inputValue('#message')).toContain(link)
    expect(decodeURIComponent((await sender.getAttribute('a[data-mails]', 'href')) ?? '')).toContain(link)
    expect(sender.url()).not.toContain('#')

    const recipient = await open(wire.url)
    await unseal(recipient, link)
    await recipient.waitForSelector('[data-file]')
    expect(await recipient.textContent('#payload')).toBe(TEXT)
    expect(await saveFile(recipient, 0)).toEqual({ name: NAME, text: CONTENT })
    expect(await saveFile(recipient, 1)).toEqual({ name: 'b.txt', text: 'second' })
    // The sender's page has polled meanwhile. It keeps the key when it is reloaded or shown in another
    // language.
    await sender.waitForSelector('#opened:has-text("Opened")')
    expect(await linkOn(sender)).toBe(link)
    await sender.reload()
    expect(await linkOn(sender)).toBe(link)
    await follow(sender, () => sender.selectOption('#language', 'de'))
    expect(await linkOn(sender)).toBe(link)
    await recipient.goto('about:blank')
    await recipient.goto(link)
    await follow(recipient, () => recipient.selectOption('#language', 'de'))
    expect(recipient.url()).toEndWith(`?locale=de#${key}`)
    await recipient.click('main form button.primary:text("Öffnen")')
    await recipient.waitForSelector('[data-file]')

    const stranger = await open(wire.url)
    await stranger.goto(sender.url())
    expect(await stranger.isVisible('[data-without-key]')).toBe(true)
    expect(await stranger.isVisible('#link')).toBe(false)

    const backup = join(stage.folder(), 'backup')
    expect((await server.command(['backup', backup])).code).toBe(0)
    const places = [...wire.places(), ...readTraces(server), ...readFolder(join(backup, '..'))]
    const texts = [TEXT, '4711-PLANTED', NAME, CONTENT.slice(0, 60), key]
    const needles = texts.flatMap((text) => spellingsOf(text).map((bytes) => ({ name: text, bytes })))
    expect(findNeedles(places, needles)).toEqual([])
    wire.close()
    await server.end()
  })

  test('a link without its key, or with another one, opens nothing until the whole link is pasted', async () => {
    const sender = await open()
    const link = await seal(sender)
    const other = (await seal(sender)).split('#')[1]
    const [address = '', key = ''] = link.split('#')
    const recipient = await open()
    const last = String.fromCharCode(key.charCodeAt(42) + 1)
    for (const fragment of [
      '',
      `#${key.slice(0, 42)}`,
      `#${key}A`,
      `#${key.slice(0, 42)}${last}`,
      `#${other}`,
    ]) {
      await recipient.goto('about:blank')
      await recipient.goto(`${address}${fragment}`)
      await recipient.waitForSelector('#whole-link:visible')
      expect(await recipient.isDisabled(OPEN)).toBe(true)
    }
    const facts = await recipient.$eval('#whole-link', (field) => ({
      ...{ name: field.getAttribute('name'), form: (field as HTMLInputElement).form },
      ...{ autocomplete: field.getAttribute('autocomplete'), spellcheck: field.getAttribute('spellcheck') },
    }))
    expect(facts).toEqual({ name: null, form: null, autocomplete: 'off', spellcheck: 'false' })
    await recipient.fill('#whole-link', `${server.url}/p/abcdefghijklmnopqrstuvwxyz/r#${key}`)
    await recipient.waitForSelector('[data-told]:has-text("another secret")')
    expect(await viewsLeft(link)).toBe(5)
    await recipient.fill('#whole-link', link)
    await recipient.click(OPEN)
    await recipient.waitForSelector('pre.lines')
    expect(await recipient.textContent('#payload')).toBe(TEXT)
    expect(await viewsLeft(link)).toBe(3)
    // Add a key to the link of a push that the server calls unencrypted.
    const plain = await (await server.create({ payload: 'PLANTED' })).json()
    await recipient.goto('about:blank')
    await recipient.goto(`${plain.html_url}#${key}`)
    expect(await recipient.isVisible('[data-refuses-key]')).toBe(true)
    expect(await recipient.isDisabled(OPEN)).toBe(true)
  })

  test('a link without a key opens with an identity file of its recipient, and with no other', async () => {
    const [key, other] = [await newKey(), await newKey()]
    const payload = await sealText(TEXT, [key.recipient])
    const { html_url } = await (await server.create({ payload, end_to_end: true })).json()
    const identityFile = (text: string) => ({
      ...{ name: 'key.txt', mimeType: 'text/plain' },
      buffer: Buffer.from(`# public key\n${text}\n`),
    })
    const page = await open()
    await page.goto(html_url)
    await page.setInputFiles('#identity', identityFile('no key'))
    await page.waitForSelector('[data-told]:has-text("holds no age key")')
    expect(await page.isDisabled(OPEN)).toBe(true)
    await page.setInputFiles('#identity', identityFile(other.identity))
    await page.click(OPEN)
    await page.waitForSelector('[data-told]:has-text("Nothing of it is shown")')
    // The view is used up, so the page offers to save the ciphertext for a program.
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('[data-saves-sealed] button'),
    ])
    const saved = await Bun.file(await download.path()).text()
    expect(await openText(saved, [key.identity])).toBe(TEXT)
    expect(await page.textContent('[data-saves-sealed]')).toContain(
      `oncebox get --sealed ${download.suggestedFilename()} --identity key.txt`,
    )
    await page.reload()
    await page.setInputFiles('#identity', identityFile(key.identity))
    await page.focus(OPEN)
    await page.keyboard.press('Enter')
    await page.waitForSelector('pre.lines')
    expect(await page.textContent('#payload')).toBe(TEXT)
    expect(await page.evaluate('document.activeElement.localName')).toBe('h1')
  })

  test('asks for a passphrase, and keeps the key while a wrong one is corrected', async () => {
    const link = await seal(await open(), { text: 'sesame-seeds', passphrase: 'open sesame' })
    const recipient = await open()
    await recipient.goto(link)
    await recipient.fill('#passphrase', 'wrong')
    await recipient.click(OPEN)
    await recipient.waitForSelector('#passphrase-problem:has-text("not the passphrase")')
    expect(await recipient.isVisible('#identity')).toBe(false)
    await recipient.fill('#passphrase', 'open sesame')
    await recipient.click(OPEN)
    await recipient.click('.secret summary')
    expect(await recipient.textContent('#payload')).toBe('sesame-seeds')
    expect(await recipient.isVisible('[data-copies="payload"]')).toBe(true)
    const [download] = await Promise.all([
      recipient.waitForEvent('download'),
      recipient.click('form[data-saves] button'),
    ])
    expect(await Bun.file(await download.path()).text()).toBe('sesame-seeds')
  })

  const BROKEN: [string, (route: Route) => Promise<void>][] = [
    ['is blocked', (route) => route.abort()],
    [
      'breaks off half-way',
      async (route) => {
        const response = await route.fetch()
        const text = await response.text()
        await route.fulfill({ response, body: text.slice(0, text.length / 2) })
      },
    ],
  ]

  test.each(BROKEN)('nothing is sent or opened if the script that encrypts %s', async (_name, handle) => {
    const required = await startServer('--end-to-end', 'default')
    const link = await seal(await open(required.url), { url: required.url })
    const page = await open(required.url)
    const posts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(request.url())
    })
    await page.route(/\/assets\/age-/, handle)
    await page.goto(required.url)
    await page.fill('#payload', TEXT)
    await page.waitForSelector('[data-sealing-told]:visible')
    expect(await page.isDisabled(SUBMIT)).toBe(true)
    expect(await page.getAttribute('#payload', 'name')).toBe(null)
    await page.press('#payload', 'Control+Enter')
    await page.evaluate("document.querySelector('form.create').requestSubmit()")
    await page.goto(link)
    await page.waitForSelector('[data-loading]:has-text("could not be loaded")')
    expect(await page.locator(OPEN).count()).toBe(0)
    // Without the page's own script there is no form at all.
    await page.unroute(/\/assets\/age-/)
    await page.route(/\/assets\/(create|receive)-/, handle)
    for (const address of [required.url, link]) {
      await page.goto('about:blank')
      await page.goto(address)
      await page.waitForSelector('[data-loading]')
      expect(await page.locator('main form[method=post]').count()).toBe(0)
    }
    expect(posts).toEqual([])
    // A script that arrives late still works.
    await page.unroute(/\/assets\/(create|receive)-/)
    await page.route(/\/assets\/age-/, async (route) => {
      await Bun.sleep(1500)
      await route.continue()
    })
    await page.goto('about:blank')
    await page.goto(link)
    await page.click(OPEN)
    await page.waitForSelector('pre.lines')
    expect(await viewsLeft(link, required)).toBe(4)
    await required.end()
  })

  test('no content is shown that a lying server sends instead', async () => {
    const sender = await openAsMember()
    const link = await seal(sender, { files: FILES, views: 50 })
    const other = await seal(sender, { text: 'another PLANTED' })
    const armourOf = async (of: string) =>
      (await (await server.retrieve(/\/p\/(\w+)/.exec(of)?.[1] ?? '')).json()).payload as string
    const [armour, foreign] = [await armourOf(link), await armourOf(other)]
    const page = await open()
    type Lie = {
      answer?: (html: string) => string
      file?: (bytes: Buffer, at: number) => Buffer
    }
    const sealedFiles: Buffer[] = []
    const lies: [string, Lie][] = [
      ['plaintext', { answer: (html) => html.replace(/-----BEGIN[^<]*/, 'PLANTED plaintext') }],
      [
        'no word of encryption',
        { answer: (html) => html.replace('data-sealed ', '').replace(/-----BEGIN[^<]*/, 'PLANTED') },
      ],
      [
        'plaintext beside the ciphertext',
        {
          answer: (html) =>
            html.replace('<div data-sealed', '<section class="secret">PLANTED</section><div data-sealed'),
        },
      ],
      ['another ciphertext', { answer: (html) => html.replace(armour.trim(), foreign.trim()) }],
      ['a text that is cut', { answer: (html) => html.replace(armour.trim(), armour.slice(0, -200)) }],
      ['a file that is cut', { file: (bytes) => bytes.subarray(0, bytes.length - 1) }],
      ['a file cut between chunks', { file: (bytes) => bytes.subarray(0, 200 + 4 * (65_536 + 16)) }],
      ['files that changed places', { file: (_bytes, at) => sealedFiles[1 - at] ?? Buffer.alloc(0) }],
    ]
    for (const [name, { answer, file }] of lies) {
      let at = 0
      await page.route('**/p/**', async (route) => {
        if (route.request().method() !== 'POST' || answer === undefined) return route.continue()
        const response = await route.fetch()
        const told = answer(await response.text())
        await route.fulfill({ response, body: told })
      })
      await page.route('**/d/**', async (route) => {
        const response = await route.fetch()
        const bytes = await response.body()
        const body = file === undefined ? bytes : file(bytes, at)
        at += 1
        await route.fulfill({ body, contentType: 'application/octet-stream' })
      })
      await unseal(page, link)
      await page.waitForSelector('[data-told]:has-text("Nothing of it is shown")')
      const shown = await page.textContent('main')
      expect([name, shown?.includes('PLANTED'), shown?.includes('4711')]).toEqual([name, false, false])
      expect(await page.isVisible('[data-saves-sealed]')).toBe(name !== 'no word of encryption')
      await page.unrouteAll()
    }
    await unseal(page, link)
    await page.waitForSelector('[data-file="1"]')
    expect(await page.textContent('#payload')).toBe(TEXT)
  }, 600_000)

  test('without scripts the pages say what the server can read, and what to use instead', async () => {
    const plain = await open(server.url, UNSCRIPTED)
    await plain.goto(server.url)
    expect(await plain.textContent('main')).toContain('the server can read what you type')
    expect(await plain.getAttribute('#payload', 'name')).toBe('push[payload]')
    const link = await seal(await open())
    await plain.goto(link)
    expect(await plain.textContent('main')).toMatch(/Without scripts .* oncebox get/)
    expect(await viewsLeft(link)).toBe(5)
    for (const rule of ['default', 'required']) {
      const strict = await startServer('--end-to-end', rule)
      const plain = await open(strict.url, UNSCRIPTED)
      await plain.goto(strict.url)
      expect(await plain.textContent('main')).toContain(
        rule === 'default' ? 'can read what you type' : 'oncebox push',
      )
      expect(await plain.locator('form.create').count()).toBe(rule === 'default' ? 1 : 0)
      // With scripts the choice is made, and links cannot be shared.
      const page = await open(strict.url)
      await page.goto(strict.url)
      await page.waitForSelector('#end_to_end:visible')
      expect(await page.locator('form.create').count()).toBe(1)
      expect([await page.isChecked('#end_to_end'), await page.isDisabled('#kind-url')]).toEqual([true, true])
      expect(await page.isDisabled('#end_to_end')).toBe(rule === 'required')
      if (rule === 'default') {
        await page.uncheck('#end_to_end')
        expect(await page.getAttribute('#payload', 'name')).toBe('push[payload]')
        await page.fill('#payload', 'for the server to read')
        await page.click(SUBMIT)
        await page.waitForURL('**/preview')
        expect(await page.locator('[data-lacks-key]').count()).toBe(0)
      }
      await strict.end()
    }
  })

  test('an account uses its choice again, and its list says what the links need', async () => {
    const page = await openAsMember()
    await page.goto(server.url)
    await page.check('#end_to_end')
    await page.fill('#payload', TEXT)
    await unfold(page, 'expiry')
    await page.check('#remember')
    await page.click(SUBMIT)
    const link = await linkOn(page)
    await page.goto(server.url)
    await page.waitForSelector('#end_to_end:visible')
    expect(await page.isChecked('#end_to_end')).toBe(true)
    await page.goto(`${server.url}/pushes`)
    expect(await page.textContent('.list')).toContain('end-to-end encrypted')
    expect(await page.locator('.list [data-text]').count()).toBe(0)
    await page.goto(link.replace(/\/p\/(\w+).*/, '/pushes/$1'))
    expect(await page.textContent('main')).toContain('revoke the secret and share it again')
    expect(await page.locator('#link').count()).toBe(0)
  })

  test('an answer to a request is encrypted for a key that was made in a browser', async () => {
    const owner = await openAsMember()
    await owner.goto(`${server.url}/account`)
    await owner.click('#age-key summary')
    const [download] = await Promise.all([owner.waitForEvent('download'), owner.click('[data-makes-key]')])
    const keyFile = await download.path()
    const identity = /^AGE-SECRET-KEY-1\w+$/m.exec(await Bun.file(keyFile).text())?.[0] ?? ''
    expect(await owner.inputValue('#recipient')).toBe('')
    await owner.setInputFiles('#identity', keyFile)
    await owner.waitForFunction(() => (document.getElementById('recipient') as HTMLInputElement).value !== '')
    const recipient = await owner.inputValue('#recipient')
    expect(await Bun.file(keyFile).text()).toContain(recipient)
    await follow(owner, () => owner.click('#age-key form button[type=submit]'))
    expect(await owner.inputValue('#recipient')).toBe(recipient)
    await owner.goto(`${server.url}/requests`)
    await owner.fill('#message', 'The contract, please.')
    await follow(owner, () => owner.click('main form .actions button'))
    const before = ((await owner.textContent('#link')) ?? '').trim()
    await owner.setInputFiles('#identity', keyFile)
    await owner.waitForFunction(() => document.getElementById('link')?.textContent?.includes('#'))
    const link = ((await owner.textContent('#link')) ?? '').trim()
    expect(link).toMatch(new RegExp(`^${before}#[\\w-]{22}$`))

    const sender = await open()
    await sender.goto(`${before}#${'A'.repeat(22)}`)
    await sender.waitForSelector('[data-sealing-told]:has-text("not the one in your link")')
    expect(await sender.isDisabled(SUBMIT)).toBe(true)
    await sender.goto('about:blank')
    await sender.goto(link)
    await sender.waitForSelector('[data-compared]:has-text("the same")')
    const sent: string[] = []
    sender.on('request', (request) => sent.push(request.postDataBuffer()?.toString('latin1') ?? ''))
    await sender.fill('#payload', TEXT)
    await sender.setInputFiles('#files', FILES)
    await follow(sender, () => sender.click(SUBMIT))
    expect(await sender.textContent('main')).toContain('It has arrived')
    expect(sent.join().includes('PLANTED')).toBe(false)

    await owner.goto(`${server.url}/pushes?state=received`)
    expect(await owner.textContent('.list')).toContain('arrived encrypted')
    await follow(owner, () => owner.click('.list [formaction]'))
    expect(await owner.textContent('#payload')).toContain('BEGIN AGE ENCRYPTED FILE')
    await owner.setInputFiles('#identity', keyFile)
    await owner.waitForSelector('[data-file="1"]')
    expect(await owner.textContent('#payload')).toBe(TEXT)
    expect(await saveFile(owner, 0)).toEqual({ name: NAME, text: CONTENT })
    const needles = spellingsOf(identity).map((bytes) => ({ name: 'identity', bytes }))
    expect(findNeedles(readTraces(server), needles)).toEqual([])
  })
})
