// A tour of every page in each of its states: what a person does to get there. For tests that check all
// pages.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Started, startBinary } from './binary.ts'
import { plugInAuthenticator } from './chromium.ts'
import { fillCreateForm, generateWords, unfold } from './create-page.ts'
import { freePort } from './free-port.ts'
import { follow } from './pressing.ts'
import { SEALED_STOPS } from './tour-sealed.ts'

export const PASSWORD = 'correct horse battery staple'
export const ADMIN = 'ann@example.org'
export const MEMBER = 'bob@example.org'

export type Person = 'stranger' | 'member' | 'admin'

export type Stop = { name: string; as: Person; visit: (page: Page, tour: Tour) => Promise<unknown> }

export type Tour = Awaited<ReturnType<typeof prepareTour>>

/** The stops that pictures and tests show in every language. */
export const STOPS_OF_LANGUAGES = ['create', 'receive', 'revealed-message', 'created', 'pushes', 'sign-in']

/**
 * Options of the server of a tour: two wrong passphrases end a push, and one of the webhook hosts never
 * answers.
 */
export const TOUR_OPTIONS = {
  flags: ['--max-passphrase-attempts', '2', '--webhook-hosts', 'notices.example.org,127.0.0.1:9'],
}

/** Returns the setup link that the first start wrote to its file; '' if there is none. */
export function setupLinkOf({ dataDir }: Pick<Started, 'dataDir'>): string {
  const path = join(dataDir, 'setup-link')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return /http:\/\/\S+\/welcome\/\w+/.exec(text)?.[0] ?? ''
}

/** Visits a stop in a new page, and waits until the page and its style sheet are loaded. */
export async function visitStop({ as, visit }: Stop, tour: Tour) {
  const page = await tour.people[as].newPage()
  await visit(page, tour)
  await page.waitForLoadState('load')
  return page
}

/**
 * Creates one page for each person, which visits stop after stop: opening a page takes longer than loading
 * another address.
 */
export function createWalkers(tour: Tour, prepare: (page: Page) => Promise<unknown>) {
  const pages = new Map<Person, Page>()

  async function pageOf(person: Person): Promise<Page> {
    const page = pages.get(person) ?? (await tour.people[person].newPage())
    if (pages.has(person)) return page
    pages.set(person, page)
    // A form that was filled in asks before it is left.
    page.on('dialog', (dialog) => dialog.accept())
    await prepare(page)
    return page
  }

  async function visit(stop: Stop): Promise<Page> {
    const page = await pageOf(stop.as)
    await stop.visit(page, tour)
    await page.waitForLoadState('load')
    return page
  }

  return { visit }
}

export async function signIn(page: Page, url: string, email: string, password = PASSWORD): Promise<void> {
  await page.goto(`${url}/sign-in`)
  await page.fill('#email', email)
  await page.fill('#password', password)
  await page.click('main button[type=submit]')
  await page.waitForURL((address) => !address.pathname.startsWith('/sign-in'))
}

/** Returns the code that an authenticator app shows. */
export function codeOf(secret: string, at = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({ timestamp: at })
}

/**
 * Makes two accounts, some pushes, and a browser context for each person. `options` apply to all contexts.
 */
export async function prepareTour(browser: Browser, server: Started, options: BrowserContextOptions = {}) {
  const { url } = server
  const contexts: BrowserContext[] = []
  const open = async (): Promise<BrowserContext> => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options })
    contexts.push(context)
    return context
  }
  await server.command(['user', 'add', ADMIN, '--admin', '--password-stdin'], PASSWORD)
  await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
  const { stdout } = await server.command(['token', 'create', MEMBER, '--name', 'tour'])
  const auth = { authorization: `Bearer ${stdout.trim()}` }
  const people: Record<Person, BrowserContext> = {
    stranger: await open(),
    member: await open(),
    admin: await open(),
  }
  for (const [person, email] of [
    ['member', MEMBER],
    ['admin', ADMIN],
  ] as const) {
    const page = await people[person].newPage()
    await signIn(page, url, email)
    await page.close()
  }

  /** Creates a push of the member. */
  async function push(
    fields: Record<string, unknown> = {},
  ): Promise<{ url_token: string; html_url: string }> {
    const response = await server.create({ payload: 'correct horse battery', ...fields }, auth)
    if (response.status !== 201) throw new Error(`no push: ${response.status} ${await response.text()}`)
    return response.json()
  }

  /** A push of the member, after its last wrong passphrase. */
  async function guessedPush(fields: Record<string, unknown>) {
    const pushed = await push({ passphrase: 'sesame', ...fields })
    for (const guess of ['1111', '1234']) await server.retrieve(`${pushed.url_token}?passphrase=${guess}`)
    return pushed
  }

  const others: Started[] = []

  /**
   * Starts a server for a state that this one cannot have: without an account, or with mail and passkeys. It
   * has a name of its own, because cookies are shared by all ports.
   */
  async function startOther(flags: string[] = []) {
    const port = freePort()
    const at = `http://other.localhost:${port}`
    const other = await startBinary({ flags: ['--port', String(port), '--base-url', at, ...flags] })
    others.push(other)
    return { ...other, url: at }
  }

  async function close(): Promise<void> {
    for (const context of contexts) await context.close()
    for (const other of others) await other.end()
  }

  /** Creates a request of the member. */
  const ask = (fields: Record<string, unknown> = {}) =>
    postJson(`${url}/api/oncebox/requests`, { request: fields }, auth)

  /** Sends an answer of a stranger. */
  const send = (urlToken: string, fields: Record<string, unknown>) =>
    postJson(`${url}/api/oncebox/requests/${urlToken}/answers`, { push: fields })

  return { url, server, auth, people, push, guessedPush, ask, send, startOther, open, close }
}

/** Returns the same people, pushes and sessions with other options, such as a language. */
export async function tourWith(browser: Browser, tour: Tour, options: BrowserContextOptions): Promise<Tour> {
  const open = async (person: Person) =>
    browser.newContext({ ...options, storageState: await tour.people[person].storageState() })
  const people = {
    stranger: await open('stranger'),
    member: await open('member'),
    admin: await open('admin'),
  }
  const close = async () => {
    for (const context of Object.values(people)) await context.close()
  }
  return { ...tour, people, close }
}

async function postJson(url: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  const made: { url_token: string; html_url: string } = await response.json()
  return made
}

async function reveal(page: Page, tour: Tour, fields: Record<string, unknown>): Promise<void> {
  const { html_url } = await tour.push(fields)
  await page.goto(html_url)
  await follow(page, () => page.click('main form button.primary'))
  await page.waitForSelector('.secret')
}

/** Resolves to the page of a forgotten password. Nothing takes mail at this port. */
async function openForgot(page: Page, { startOther }: Tour): Promise<void> {
  const { url } = await startOther(['--smtp-url', 'smtp://127.0.0.1:9', '--mail-from', ADMIN])
  await page.goto(`${url}/sign-in/forgot`)
}

/** Opens the form that adds a passkey. */
async function openNewPasskey(page: Page, { startOther }: Tour): Promise<string> {
  const { url, command } = await startOther()
  await command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
  await signIn(page, url, MEMBER)
  await page.goto(`${url}/account`)
  await follow(page, () => page.click('#passkeys form[action$="/new"] button'))
  return url
}

/** The example of age's own documentation. */
const AGE_KEY = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
const FILE = { filename: 'quarterly report — “final”.pdf', data: btoa('x'.repeat(3000)) }
const LINES = 'host: db.example.org\nuser: reports\npassword: k3m9-qx2v-n4t8'

export const STOPS: Stop[] = [
  { name: 'create', as: 'stranger', visit: (page, { url }) => page.goto(url) },
  {
    name: 'create-generator',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(url)
      await generateWords(page)
    },
  },
  {
    name: 'create-problems',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(url)
      await fillCreateForm(page, { kind: 'url', payload: 'javascript:alert(1)', time: [365, 'days'] })
      await page.click('main form.create > .actions button')
      await page.waitForSelector('.notice.bad')
    },
  },
  {
    name: 'create-expiry',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(url)
      await fillCreateForm(page, { payload: 'x', time: [36, 'hours'], views: 2 })
    },
  },
  {
    name: 'create-wifi',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(url)
      await page.check('#kind-wifi')
      await page.fill('#wifi_network', 'Office')
      await page.locator('[data-drawn] svg').waitFor()
    },
  },
  {
    name: 'create-files',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(url)
      await page.check('#kind-file')
      await page.setInputFiles('#files', [
        { name: 'report.pdf', mimeType: 'application/pdf', buffer: Buffer.alloc(2_400_000) },
        { name: 'keys.zip', mimeType: 'application/zip', buffer: Buffer.alloc(800) },
      ])
      await unfold(page, 'options')
    },
  },
  {
    name: 'create-files-stranger',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(url)
      await page.check('#kind-file')
    },
  },
  {
    name: 'created',
    as: 'stranger',
    visit: async (page, { url, push }) => {
      const { url_token } = await push({ passphrase: 'sesame' })
      await page.goto(`${url}/p/${url_token}/preview`)
      for (const summary of await page.locator('main details > summary').all()) await summary.click()
    },
  },
  {
    name: 'created-expired',
    as: 'stranger',
    visit: async (page, { url, push, server }) => {
      const { url_token } = await push()
      await server.retrieve(url_token, { method: 'DELETE' })
      await page.goto(`${url}/p/${url_token}/preview`)
    },
  },
  { name: 'receive', as: 'stranger', visit: async (page, { push }) => page.goto((await push()).html_url) },
  {
    name: 'receive-owner',
    as: 'member',
    visit: async (page, { push }) => page.goto((await push({ passphrase: 'sesame' })).html_url),
  },
  {
    name: 'receive-wrong-passphrase',
    as: 'stranger',
    visit: async (page, { push }) => {
      await page.goto((await push({ passphrase: 'sesame' })).html_url)
      await page.fill('#passphrase', 'open')
      await page.click('main form button.primary')
      await page.waitForSelector('.problem')
    },
  },
  {
    name: 'receive-again',
    as: 'stranger',
    visit: async (page, { push }) => {
      await page.goto((await push()).html_url)
      await follow(page, () => page.click('main form button.primary'))
      await page.waitForSelector('.secret')
      await page.reload()
    },
  },
  {
    name: 'revealed-text',
    as: 'stranger',
    visit: (page, tour) => reveal(page, tour, { payload: LINES }),
  },
  {
    name: 'revealed-message',
    as: 'stranger',
    visit: (page, tour) =>
      reveal(page, tour, { payload: 'The code is 4711. Please close the door behind you.' }),
  },
  {
    name: 'revealed-hidden',
    as: 'stranger',
    visit: (page, tour) => reveal(page, tour, { expire_after_views: 1 }),
  },
  {
    name: 'revealed-link',
    as: 'stranger',
    visit: (page, tour) =>
      reveal(page, tour, {
        kind: 'url',
        payload: 'https://files.example.org/shared/2026/report?key=k3m9qx2v',
      }),
  },
  {
    name: 'revealed-qr',
    as: 'stranger',
    visit: (page, tour) => reveal(page, tour, { kind: 'qr', payload: 'WIFI:T:WPA;S:office;P:k3m9-qx2v;;' }),
  },
  {
    name: 'revealed-files',
    as: 'stranger',
    visit: async (page, tour) => {
      const second = {
        filename: 'a-name-that-is-rather-long-and-has-no-blank-in-it-at-all-whatever.tar.gz',
        data: 'eA==',
      }
      await reveal(page, tour, { payload: 'Here they are.', files: [FILE, second] })
      await page.click('.downloads a')
      await page.waitForSelector('.download output:not(:empty)')
    },
  },
  {
    name: 'gone',
    as: 'stranger',
    visit: (page, { url }) => page.goto(`${url}/p/0123456789abcdefghjkmnpqrs`),
  },
  {
    name: 'gone-guessed',
    as: 'stranger',
    visit: async (page, { guessedPush }) => page.goto((await guessedPush({})).html_url),
  },
  {
    name: 'locked',
    as: 'stranger',
    visit: async (page, { guessedPush }) =>
      page.goto((await guessedPush({ deletable_by_viewer: false })).html_url),
  },
  {
    name: 'locked-owner',
    as: 'member',
    visit: async (page, { guessedPush }) =>
      page.goto((await guessedPush({ deletable_by_viewer: false })).html_url),
  },
  {
    name: 'deleted',
    as: 'stranger',
    visit: async (page, tour) => {
      await reveal(page, tour, {})
      await page.locator('details', { hasText: 'Delete it now' }).locator('summary').click()
      await page.click('button.danger')
      await page.locator('button.danger').waitFor({ state: 'detached' })
    },
  },
  { name: 'sign-in', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/pushes`) },
  {
    name: 'sign-in-wrong',
    as: 'stranger',
    visit: async (page, { url }) => {
      await page.goto(`${url}/sign-in`)
      await page.fill('#email', ADMIN)
      await page.fill('#password', 'not this one')
      await page.click('main button[type=submit]')
      await page.waitForSelector('.notice.bad')
    },
  },
  { name: 'forgot', as: 'stranger', visit: openForgot },
  {
    name: 'forgot-sent',
    as: 'stranger',
    visit: async (page, tour) => {
      await openForgot(page, tour)
      await page.fill('#email', MEMBER)
      await follow(page, () => page.click('main button[type=submit]'))
    },
  },
  {
    name: 'setup',
    as: 'stranger',
    visit: async (page, { startOther }) => page.goto(setupLinkOf(await startOther())),
  },
  {
    name: 'link-lapsed',
    as: 'stranger',
    visit: (page, { url }) => page.goto(`${url}/welcome/0123456789abcdefghjkmnpqrstvwxyz`),
  },
  { name: 'ask', as: 'member', visit: (page, { url }) => page.goto(`${url}/requests`) },
  {
    name: 'ask-problems',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(`${url}/requests`)
      await unfold(page, 'expiry')
      await unfold(page, 'options')
      await page.click('.options details > summary')
      await page.fill('#recipient', 'ssh-ed25519 AAAA')
      await page.click('main form .actions button')
      await page.waitForSelector('.notice.bad')
    },
  },
  {
    name: 'request',
    as: 'member',
    visit: async (page, { url, ask, send }) => {
      const { url_token } = await ask({ name: 'Router in Oslo', max_answers: 2, recipient: AGE_KEY })
      await send(url_token, { payload: 'sesame', files: [FILE] })
      await page.goto(`${url}/requests/${url_token}`)
    },
  },
  {
    name: 'request-over',
    as: 'member',
    visit: async (page, { url, ask, send }) => {
      const { url_token } = await ask({ message: 'The door code of the archive, please.' })
      await send(url_token, { payload: '4711' })
      await page.goto(`${url}/requests/${url_token}`)
    },
  },
  {
    name: 'received',
    as: 'member',
    visit: async (page, { url, ask, send }) => {
      const { url_token } = await ask({ name: 'Router in Oslo', recipient: AGE_KEY })
      await send(url_token, { payload: 'sesame' })
      await page.goto(`${url}/requests/${url_token}`)
      await follow(page, () => page.click('#opened li a'))
    },
  },
  {
    name: 'received-read',
    as: 'member',
    visit: async (page, { url, ask, send }) => {
      const { url_token } = await ask({ message: 'The password of the old router in Graz, please.' })
      await send(url_token, { payload: 'router: Kx9!pq__77-zZ', files: [FILE] })
      await page.goto(`${url}/requests/${url_token}`)
      await follow(page, () => page.click('#opened form button'))
    },
  },
  {
    name: 'request-ready',
    as: 'member',
    visit: async (page, { url, ask }) => {
      const { url_token } = await ask({ message: 'The door code of the archive, please.', max_answers: 20 })
      await page.goto(`${url}/requests/${url_token}`)
    },
  },
  {
    name: 'answer',
    as: 'stranger',
    visit: async (page, { ask }) => {
      const message = 'The password of the old router, please.\nAnd the contract as a PDF.'
      const { html_url } = await ask({ message, passphrase: 'sesame', recipient: AGE_KEY })
      await page.goto(html_url)
    },
  },
  {
    name: 'answer-problems',
    as: 'stranger',
    visit: async (page, { ask }) => {
      await page.goto((await ask({ message: 'The password of the old router, please.' })).html_url)
      await page.click('main form button.primary')
      await page.waitForSelector('.notice.bad')
    },
  },
  {
    name: 'answer-sent',
    as: 'stranger',
    visit: async (page, { ask }) => {
      await page.goto((await ask({ message: 'The password of the old router, please.' })).html_url)
      await page.fill('#payload', 'sesame')
      await follow(page, () => page.click('main form button.primary'))
    },
  },
  {
    name: 'answer-over',
    as: 'stranger',
    visit: async (page, { ask, send }) => {
      const { url_token, html_url } = await ask({ message: 'The password of the old router, please.' })
      await send(url_token, { payload: 'sesame' })
      await page.goto(html_url)
    },
  },
  { name: 'account', as: 'member', visit: (page, { url }) => page.goto(`${url}/account`) },
  { name: 'passkey-new', as: 'stranger', visit: openNewPasskey },
  {
    name: 'passkeys',
    as: 'stranger',
    visit: async (page, tour) => {
      const client = await page.context().newCDPSession(page)
      await plugInAuthenticator(client)
      const url = await openNewPasskey(page, tour)
      await follow(page, () => page.click('main form[data-passkey] button'))
      await page.goto(`${url}/account#passkeys`)
      await client.detach()
    },
  },
  { name: 'two-factor', as: 'member', visit: (page, { url }) => page.goto(`${url}/account/two-factor`) },
  { name: 'message', as: 'member', visit: (page, { url }) => page.goto(`${url}/account/message`) },
  { name: 'tokens', as: 'member', visit: (page, { url }) => page.goto(`${url}/users/token`) },
  {
    name: 'token-made',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(`${url}/users/token`)
      await page.click('main form.narrow button')
      await page.waitForSelector('#token')
    },
  },
  {
    name: 'webhooks',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(`${url}/account/notices`)
      await page.fill('#url', 'http://127.0.0.1:9/hook')
      await page.click('#webhooks form.narrow > button')
      await page.waitForSelector('#secret')
      await page.click('main ul.rows form[action$="/test"] button')
      await page.waitForSelector('.notice.bad')
    },
  },
  {
    name: 'webhook-refused',
    as: 'member',
    visit: async (page, { url }) => {
      await page.goto(`${url}/account/notices`)
      await page.fill('#url', 'https://elsewhere.example/hook')
      await page.click('#webhooks form.narrow > button')
      await page.waitForSelector('[aria-invalid]')
    },
  },
  { name: 'webhooks-all', as: 'admin', visit: (page, { url }) => page.goto(`${url}/admin/webhooks`) },
  {
    name: 'pushes',
    as: 'member',
    visit: async (page, { url, push, server }) => {
      const { url_token } = await push({ name: 'VPN of the Hamburg office', note: 'For Bo, until the move.' })
      await server.retrieve(url_token)
      await push({ kind: 'qr', name: 'Wi-Fi for guests', expire_after_views: 100 })
      await server.retrieve((await push({ name: 'Door code', expire_after_views: 1 })).url_token)
      await page.goto(`${url}/pushes`)
    },
  },
  {
    name: 'pushes-new',
    as: 'member',
    visit: async (page, { url, push, server }) => {
      const { url_token } = await push({ name: 'Old password' })
      await server.retrieve(url_token, { method: 'DELETE' })
      await page.goto(`${url}/pushes?show=new&q=old`)
    },
  },
  {
    name: 'push',
    as: 'member',
    visit: async (page, { url, push, server }) => {
      const { url_token } = await push({
        name: 'VPN of the Hamburg office',
        note: 'For Bo.',
        passphrase: 'x',
      })
      await server.retrieve(url_token)
      await server.retrieve(`${url_token}?passphrase=x`)
      await page.goto(`${url}/pushes/${url_token}`)
    },
  },
  {
    name: 'pushes-expired-together',
    as: 'member',
    visit: async (page, { url, push, server }) => {
      const { url_token } = await push({ name: 'Router in Oslo', expire_after_views: 2 })
      await server.retrieve(url_token)
      await push({ name: 'Old key of the archive' })
      await page.goto(`${url}/pushes?kind=text&sort=name`)
      await page.check('li:has([name=only]) input[name=push]')
      await page.click('button[value=expire]')
      await page.click('.ask .danger')
      await page.waitForSelector('.notice.good')
    },
  },
  {
    name: 'pushes-asked',
    as: 'member',
    visit: async (page, { url, push }) => {
      await push({ name: 'Router in Oslo' })
      await page.goto(`${url}/pushes`)
      await page.check('li:has([name=only]) input[name=push]')
      await page.click('button[value=expire]')
      await page.locator('.ask .danger').waitFor()
    },
  },
  {
    name: 'pushes-asked-without-scripts',
    as: 'member',
    visit: async (page, { url, push }) => {
      const { url_token } = await push({ name: 'Router in Oslo' })
      await page.goto(`${url}/pushes`)
      // Sends the form as a browser without scripts does.
      await page.locator('form.pushes').evaluate((form, only) => {
        form.append(Object.assign(document.createElement('input'), { name: 'only', value: only }))
        if (form instanceof HTMLFormElement) form.submit()
      }, url_token)
      await page.waitForSelector('.emblem')
    },
  },
  {
    name: 'push-edit',
    as: 'member',
    visit: async (page, { url, push }) => {
      const { url_token } = await push({ name: 'Router in Oslo', note: 'For Bo, until the move.' })
      await page.goto(`${url}/pushes/${url_token}?edit=1`)
    },
  },
  {
    name: 'push-edit-refused',
    as: 'member',
    visit: async (page, { url, push }) => {
      const { url_token } = await push({ name: 'Router in Oslo' })
      await page.goto(`${url}/pushes/${url_token}?edit=1`)
      await page.evaluate("document.querySelector('#edit form').noValidate = true")
      await page.fill('#views', '9')
      await page.click('#edit form > button')
      await page.waitForSelector('#edit .notice.bad')
    },
  },
  {
    name: 'create-again',
    as: 'member',
    visit: async (page, { url, push }) => {
      const { url_token } = await push({ name: 'Router in Oslo', passphrase: 'x' })
      await page.goto(`${url}/?like=${url_token}`)
    },
  },
  {
    name: 'push-locked',
    as: 'member',
    visit: async (page, { url, guessedPush }) => {
      const { url_token } = await guessedPush({ name: 'Safe in Lyon', deletable_by_viewer: false })
      await page.goto(`${url}/pushes/${url_token}`)
    },
  },
  {
    name: 'push-unlocked',
    as: 'member',
    visit: async (page, { url, guessedPush }) => {
      const { url_token } = await guessedPush({ name: 'Safe in Lyon', deletable_by_viewer: false })
      await page.goto(`${url}/pushes/${url_token}`)
      await page.click('form[action$="/unlock"] button')
      await page.waitForSelector('.notice.good')
    },
  },
  {
    name: 'push-guessed',
    as: 'member',
    visit: async (page, { url, guessedPush }) => {
      const { url_token } = await guessedPush({ name: 'Safe in Lyon' })
      await page.goto(`${url}/pushes/${url_token}`)
    },
  },
  { name: 'docs', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/api/v2/docs`) },
  { name: 'create-setup', as: 'admin', visit: (page, { url }) => page.goto(url) },
  { name: 'admin-first', as: 'admin', visit: (page, { url }) => page.goto(`${url}/admin/welcome`) },
  { name: 'admin', as: 'admin', visit: (page, { url }) => page.goto(`${url}/admin`) },
  {
    name: 'admin-link',
    as: 'admin',
    visit: async (page, { url }) => {
      await page.goto(`${url}/admin`)
      await page.fill('#email', 'cleo@example.org')
      await page.click('form[action$="/admin/invitations"] > button')
      await page.waitForSelector('#link')
      await page.locator('details.more > summary').first().click()
    },
  },
  {
    name: 'invited',
    as: 'stranger',
    visit: async (page, tour) => {
      const admin = await tour.people.admin.newPage()
      await admin.goto(`${tour.url}/admin`)
      await admin.fill('#email', 'dora@example.org')
      await follow(admin, () => admin.click('form[action$="/admin/invitations"] > button'))
      const link = (await admin.textContent('#link')) ?? ''
      await admin.close()
      await page.goto(link.trim())
    },
  },
  { name: 'missing', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/nowhere`) },
  { name: 'previous-api', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/api`) },
  { name: 'arabic', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/?locale=ar`) },
  { name: 'german', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/?locale=de`) },
  { name: 'japanese', as: 'stranger', visit: (page, { url }) => page.goto(`${url}/?locale=ja`) },
  ...SEALED_STOPS,
]
