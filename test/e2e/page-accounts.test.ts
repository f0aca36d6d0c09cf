// Pages of accounts in a browser, against the binary: first start, sign-in, second factor, tokens,
// administration.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { createStage, type Started } from '../support/binary.ts'
import { createVisitors, launchBrowser } from '../support/chromium.ts'
import { alterDatabase } from '../support/damage.ts'
import { needs } from '../support/needs.ts'
import { follow } from '../support/pressing.ts'
import { ADMIN, codeOf, MEMBER, PASSWORD, setupLinkOf, signIn } from '../support/tour.ts'

const SCRIPTED: BrowserContextOptions = {}
const UNSCRIPTED: BrowserContextOptions = { javaScriptEnabled: false }
const MODES: [string, BrowserContextOptions][] = [
  ['with scripts', SCRIPTED],
  ['without scripts', UNSCRIPTED],
]

// Sign-in is tested in both modes. Every other test runs in the mode in which more can go wrong: without
// scripts, unless it needs them.
needs('chromium').describe('in a browser', () => {
  const stage = createStage()
  let browser: Browser
  const visitors = createVisitors()

  beforeAll(async () => {
    browser = await launchBrowser()
  })

  afterEach(async () => {
    const { outside, complaints } = await visitors.leave()
    await stage.clear()
    expect(outside).toEqual([])
    expect(complaints.filter((text) => !/status of (4\d\d)/.test(text))).toEqual([])
  })

  afterAll(() => browser?.close())

  const open = (server: Started, options = UNSCRIPTED): Promise<Page> =>
    visitors.open(browser, server.url, options)

  /** Submits and waits for the next page. */
  const press = (what: Locator) => follow(what.page(), () => what.click())
  const submit = (page: Page) => press(page.locator('main button.primary'))

  async function makeAccount(page: Page, link: string, email: string | null, password = PASSWORD) {
    await page.goto(link)
    if (email !== null) await page.fill('#email', email)
    await page.fill('#password', password)
    await page.click('main button.primary')
  }

  test('the link of the first start creates the first administrator once', async () => {
    const server = await stage.start()
    const link = setupLinkOf(server)
    const page = await open(server)
    await makeAccount(page, link, ADMIN, 'too short')
    // The browser itself requires more characters before anything is sent.
    expect(await page.locator('#password:invalid').count()).toBe(1)
    await makeAccount(page, link, ADMIN)
    await page.waitForURL(`${server.url}/admin/welcome`)
    expect(await page.textContent('h1')).toBe('You administer this Oncebox now')
    await press(page.locator('main a[href$="/admin#invite"]'))
    expect(await page.textContent('h1')).toBe('Administration')

    // A second client on the network cannot claim the instance.
    const stranger = await open(server)
    const response = await stranger.goto(link)
    expect(response?.status()).toBe(404)
    expect(await stranger.textContent('h1')).toBe('This link no longer works')
    // The browser must not request an icon after the server has stopped.
    for (const guest of [page, stranger]) await guest.context().close()
    await server.end()
    const again = await stage.start({ dataDir: server.dataDir })
    expect(setupLinkOf(again)).toBe('')
    expect(again.stdout()).not.toContain('welcome')
  })

  test('sign-in and setup pages are a centred card of 400 pixels with a button as wide as its fields', async () => {
    const server = await stage.start()
    const page = await open(server, SCRIPTED)
    await page.setViewportSize({ width: 1200, height: 800 })
    for (const address of [`${server.url}/sign-in`, setupLinkOf(server)]) {
      await page.goto(address)
      const room = await page.evaluate(() => document.documentElement.getBoundingClientRect().width)
      expect(await page.locator('.card').boundingBox()).toMatchObject({ x: (room - 400) / 2, width: 400 })
      expect(await page.locator('main button.primary').count()).toBe(1)
      const widths = await page
        .locator('.card :is(input:not([type=hidden], [type=checkbox]), button.primary)')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
      expect(widths).toEqual([350, 350, 350])
    }
  })

  test('a weak password is refused for an administrator, and a script warns before', async () => {
    const server = await stage.start()
    const page = await open(server, SCRIPTED)
    await page.goto(setupLinkOf(server))
    await page.fill('#email', ADMIN)
    await page.fill('#password', 'passwordpassword')
    await page.locator('[data-strength] output', { hasText: 'can guess this' }).waitFor()
    await page.check('[data-reveals] input')
    expect(await page.getAttribute('#password', 'type')).toBe('text')
    await submit(page)
    expect(await page.textContent('#password-problem')).toContain('easy to guess')
    expect(await page.getAttribute('#password', 'type')).toBe('password')
    await page.fill('#password', PASSWORD)
    await submit(page)
    expect(page.url()).toBe(`${server.url}/admin/welcome`)
  })

  test('the next start replaces a setup link, and an administrator makes it void', async () => {
    const server = await stage.start()
    const first = setupLinkOf(server)
    await server.end()
    const again = await stage.start({ dataDir: server.dataDir })
    const second = setupLinkOf(again)
    const token = (link: string) => link.split('/').at(-1)
    expect(token(second)).not.toBe(token(first))
    expect((await again.ask(`/welcome/${token(first)}`)).status).toBe(404)
    expect((await again.ask(`/welcome/${token(second)}`)).status).toBe(200)
    await again.command(['user', 'add', ADMIN, '--admin', '--password-stdin'], PASSWORD)
    expect((await again.ask(`/welcome/${token(second)}`)).status).toBe(404)
  })

  test.each(MODES)('a user signs in and out and changes the password, %s', async (_name, options) => {
    const server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const page = await open(server, options)
    await page.goto(`${server.url}/pushes?show=expired`)
    expect(await page.textContent('h1')).toBe('Sign in')
    await page.fill('#email', ` ${MEMBER.toUpperCase()}`)
    await page.fill('#password', 'wrong password')
    await submit(page)
    expect(await page.textContent('.notice.bad')).toContain('e-mail address or the password is wrong')
    await page.fill('#password', PASSWORD)
    await submit(page)
    // The page that the person wanted.
    await page.waitForURL('**/pushes?show=expired')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', secure: false, path: '/' })

    const other = await open(server, options)
    await signIn(other, server.url, MEMBER)
    await page.goto(`${server.url}/account`)
    await page.fill('#current', 'not it, certainly')
    await page.fill('#password', 'another long password')
    await press(page.getByRole('button', { name: 'Change the password' }))
    expect(await page.textContent('#current-problem')).toContain('not your password')
    await page.fill('#current', PASSWORD)
    await page.fill('#password', 'another long password')
    await press(page.getByRole('button', { name: 'Change the password' }))
    expect(await page.textContent('.notice.good')).toContain('changed')
    await other.goto(`${server.url}/account`)
    expect(await other.textContent('h1')).toBe('Sign in')
    await signIn(other, server.url, MEMBER, 'another long password')

    await press(page.getByRole('button', { name: 'Sign out', exact: true }).first())
    await page.goto(`${server.url}/account`)
    expect(await page.textContent('h1')).toBe('Sign in')
  })

  test('a user lists sessions and ends one or all others', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const [page, second, third] = [await open(server), await open(server), await open(server)]
    for (const one of [page, second, third]) await signIn(one, server.url, MEMBER)
    await page.goto(`${server.url}/account`)
    expect(await page.locator('#sessions li').count()).toBe(3)
    expect(await page.textContent('#sessions')).toContain('This browser')
    await press(page.locator('#sessions li button').first())
    expect(await page.locator('#sessions li').count()).toBe(2)
    await press(page.getByRole('button', { name: 'Sign out all others' }))
    expect(await page.locator('#sessions li').count()).toBe(1)
    for (const one of [second, third]) {
      await one.goto(`${server.url}/account`)
      expect(await one.textContent('h1')).toBe('Sign in')
    }
  })

  test('a user sets up a second factor, signs in with it or a recovery code, and turns it off', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const page = await open(server, SCRIPTED)
    await signIn(page, server.url, MEMBER)
    await page.goto(`${server.url}/account/two-factor`)
    const secret = ((await page.textContent('#secret')) ?? '').trim()
    await page.fill('#code', '000000')
    await page.fill('#password', PASSWORD)
    await submit(page)
    expect(await page.textContent('#code-problem')).toContain('wrong')
    expect(((await page.textContent('#secret')) ?? '').trim()).toBe(secret)
    const usedCode = codeOf(secret)
    await page.fill('#code', usedCode)
    await page.fill('#password', PASSWORD)
    await submit(page)
    const codes = ((await page.textContent('#codes')) ?? '').trim().split('\n')
    expect(codes).toHaveLength(10)

    const other = await open(server)
    const enter = async (readCode: () => string) => {
      await other.goto(`${server.url}/sign-in`)
      await other.fill('#email', MEMBER)
      await other.fill('#password', PASSWORD)
      await submit(other)
      expect(await other.textContent('h1')).toBe('One more step')
      expect(await other.context().cookies()).toEqual([])
      await other.fill('#code', readCode())
      await submit(other)
    }
    // The code of the setup is used up.
    await enter(() => usedCode)
    expect(await other.textContent('.notice.bad')).toContain('wrong, or was used')
    // The next code is accepted a little early, as the clock of a phone may be ahead.
    await enter(() => codeOf(secret, Date.now() + 30_000))
    expect(other.url()).toBe(`${server.url}/`)
    await other.context().clearCookies()
    await enter(() => (codes[0] ?? '').toUpperCase().replaceAll('-', ' '))
    expect(other.url()).toBe(`${server.url}/`)
    await other.context().clearCookies()
    await enter(() => codes[0] ?? '')
    expect(await other.textContent('.notice.bad')).toContain('wrong')

    await page.goto(`${server.url}/account`)
    expect(await page.textContent('#two-factor')).toContain('9 recovery codes are left')
    await page.fill('#two-factor-password', 'wrong password')
    await press(page.getByRole('button', { name: 'Turn off' }))
    expect(await page.textContent('#two-factor-password-problem')).toContain('not your password')
    await page.fill('#two-factor-password', PASSWORD)
    await press(page.getByRole('button', { name: 'Turn off' }))
    await other.context().clearCookies()
    await signIn(other, server.url, MEMBER)
    expect(other.url()).toBe(`${server.url}/`)
  })

  needs('curl').test('a token is created, shown once, used and revoked', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const page = await open(server)
    await signIn(page, server.url, MEMBER)
    await page.goto(`${server.url}/api_tokens`)
    expect(page.url()).toBe(`${server.url}/users/token`)
    await page.fill('#name', 'the backup script')
    await submit(page)
    const token = ((await page.textContent('#token')) ?? '').trim()
    const curl = (...args: string[]) => Bun.spawnSync(['curl', '-sS', ...args]).stdout.toString()
    const created = JSON.parse(
      curl(
        '-H',
        `Authorization: Bearer ${token}`,
        '--json',
        '{"push":{"payload":"x","name":"by curl"}}',
        `${server.url}/api/v2/pushes`,
      ),
    )
    expect(created.name).toBe('by curl')
    await page.goto(`${server.url}/et/users/token`)
    expect(await page.content()).not.toContain(token)
    expect(await page.textContent('.rows')).toContain('the backup script')
    expect(await page.textContent('.rows')).toContain('Last used')
    await page.goto(`${server.url}/pushes`)
    expect(await page.textContent('.list')).toContain('by curl')
    await page.goto(`${server.url}/users/token`)
    await page.fill('#name', 'the backup script')
    await submit(page)
    expect(await page.textContent('#name-problem')).toContain('already')
    await press(page.getByRole('button', { name: 'Revoke: the backup script' }))
    expect(await page.textContent('main')).toContain('There are no tokens yet')
    expect(curl('-H', `Authorization: Bearer ${token}`, `${server.url}/api/v2/pushes/active`)).toContain(
      'not valid',
    )
  })

  test('sensitive changes ask for the password again and keep what was typed', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', ADMIN, '--admin', '--password-stdin'], PASSWORD)
    const page = await open(server)
    await signIn(page, server.url, ADMIN)
    // Imitates sessions from before the time was recorded.
    alterDatabase(server.dataDir, 'UPDATE sessions SET confirmed_at = 0')
    await page.goto(`${server.url}/users/token`)
    await page.fill('#name', 'for "scripts" & more')
    await submit(page)
    expect(await page.textContent('h1')).toBe('Confirm that it is you')
    await page.fill('#password', 'not this one')
    await submit(page)
    expect(await page.textContent('#password-problem')).toContain('not your password')
    await page.fill('#password', PASSWORD)
    await submit(page)
    expect(await page.textContent('.notice.good')).toContain('“for "scripts" & more”')
    expect(await page.locator('.rows > li').count()).toBe(1)

    await page.goto(`${server.url}/admin`)
    await page.fill('#email', MEMBER)
    await press(page.getByRole('button', { name: 'Make the link' }))
    const invitation = ((await page.textContent('#link')) ?? '').trim()
    await page.reload()
    expect(await page.textContent('.notice')).toContain('still works')
    expect((await page.context().request.get(invitation)).status()).toBe(200)
  })

  test('administrators invite, disable, reset and remove', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', ADMIN, '--admin', '--password-stdin'], PASSWORD)
    const admin = await open(server, SCRIPTED)
    await signIn(admin, server.url, ADMIN)
    await admin.goto(`${server.url}/admin`)
    expect(await admin.textContent('main')).toContain('--data-dir')
    await admin.fill('#email', MEMBER)
    await press(admin.getByRole('button', { name: 'Make the link' }))
    const invitation = ((await admin.textContent('#link')) ?? '').trim()

    const member = await open(server, SCRIPTED)
    await makeAccount(member, invitation, null)
    await member.waitForURL(`${server.url}/`)
    expect(await member.locator('a[href$="/admin"]').count()).toBe(0)
    expect((await member.goto(`${server.url}/admin`))?.status()).toBe(403)
    await member.goto(server.url)
    await member.fill('#payload', 'secret of the member')
    await member.click('form.create > .actions button')
    await member.waitForURL('**/preview')
    const { pathname } = new URL(member.url())

    // An administrator sees the number of pushes, which is counted once a minute, and no other facts about
    // them.
    await admin.goto(`${server.url}/admin`)
    expect(await admin.textContent('.facts')).toContain('Active secrets')
    const [, , urlToken = ''] = pathname.split('/')
    expect(await admin.content()).not.toContain(urlToken)
    expect((await admin.goto(`${server.url}/pushes/${urlToken}`))?.status()).toBe(404)

    const change = async (button: string, tick?: string) => {
      await admin.goto(`${server.url}/admin`)
      await admin.locator('details.more > summary').click()
      if (tick !== undefined) await admin.check(tick)
      await press(admin.getByRole('button', { name: button }))
    }
    await change('Disable')
    await member.goto(`${server.url}/account`)
    expect(await member.textContent('h1')).toBe('Sign in')
    await change('Enable again')
    await change('Make a link for a new password')
    const reset = ((await admin.textContent('#link')) ?? '').trim()
    await makeAccount(member, reset, null, 'a new long password')
    await member.waitForURL(`${server.url}/`)
    expect((await member.goto(reset))?.status()).toBe(404)
    await change('Remove the account', '[name=sure]')
    expect(await admin.textContent('main')).not.toContain(MEMBER)
    await member.goto(`${server.url}/account`)
    expect(await member.textContent('h1')).toBe('Sign in')
  })

  test('people sign up only where the server allows it', async () => {
    const closed = await stage.start()
    expect((await closed.ask('/sign-up')).status).toBe(404)
    const server = await stage.start({ flags: ['--signups'] })
    await server.command(['user', 'add', ADMIN, '--admin', '--password-stdin'], PASSWORD)
    const page = await open(server)
    await page.goto(`${server.url}/sign-in`)
    await press(page.getByRole('link', { name: 'Create an account' }))
    await page.fill('#email', MEMBER)
    await page.fill('#password', PASSWORD)
    await submit(page)
    expect(page.url()).toBe(`${server.url}/`)
    expect(await page.locator('a[href$="/admin"]').count()).toBe(0)
  })

  test('lists are paged and searched, and their log is exported', async () => {
    const server = await stage.start()
    await server.command(['user', 'add', MEMBER, '--password-stdin'], PASSWORD)
    const { stdout } = await server.command(['token', 'create', MEMBER])
    const auth = { authorization: `Bearer ${stdout.trim()}` }
    let last = { url_token: '' }
    for (let n = 1; n <= 55; n += 1) {
      const note = n === 7 ? 'for the Übergabe' : ''
      last = await (await server.create({ payload: 'x', name: `push ${n}`, note }, auth)).json()
    }
    await server.retrieve(last.url_token, {
      headers: { 'user-agent': '=cmd|"/c calc"!A1', 'accept-language': 'de' },
    })
    const page = await open(server)
    await signIn(page, server.url, MEMBER)
    await page.goto(`${server.url}/pushes`)
    expect(await page.locator('.list li').count()).toBe(25)
    expect(await page.locator('.list .title').first().textContent()).toBe('push 55')
    expect(await page.locator('.list .status').first().textContent()).toContain('Opened 1 of 5 times')
    for (let n = 0; n < 2; n += 1) await press(page.getByRole('link', { name: 'Next' }))
    expect(await page.locator('.list li').count()).toBe(5)
    await page.fill('#q', 'übergabe')
    await press(page.getByRole('button', { name: 'Search' }))
    expect(await page.locator('.list .title').allTextContents()).toEqual(['push 7'])
    await page.fill('#q', 'nothing like it')
    await press(page.getByRole('button', { name: 'Search' }))
    expect(await page.textContent('main')).toContain('No secret has these words')

    await page.goto(`${server.url}/pushes/${last.url_token}`)
    expect(await page.textContent('#link')).toContain(last.url_token)
    expect(await page.locator('.log > li').count()).toBe(2)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save as CSV' }).click(),
    ])
    const csv = readFileSync(await download.path(), 'utf8')
    expect(csv.split('\r\n')[0]).toBe('\uFEFF"time","kind","ip","user_agent","referrer"')
    expect(csv).toContain(`"'=cmd|""/c calc""!A1"`)
    const cookies = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
    const log = await (
      await server.ask(`/pushes/${last.url_token}/audit.json`, { headers: { cookie: cookies } })
    ).json()
    expect(log.logs.map(({ kind }: { kind: string }) => kind)).toEqual(['creation', 'view'])

    await page.locator('details', { hasText: 'Revoke it now' }).locator('summary').click()
    await page.click('main details button.danger')
    await page.waitForURL('**/pushes/*?done=expired')
    expect(await page.textContent('.notice.good')).toContain('has been destroyed')
    expect(await page.textContent('.standing')).toContain('Revoked or deleted')
    await page.goto(`${server.url}/pushes?show=expired`)
    expect(await page.textContent('.list')).toContain('Revoked or deleted')
  })
})
