// The safety of the pages: what every answer carries, who may send which form, and what nobody learns.

import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Account } from '../../src/domain/account.ts'
import { type Api, startApi } from '../support/api.ts'
import type { Init } from '../support/instance.ts'
import { findNeedles, readFolder, spellingsOf } from '../support/needles.ts'
import { codeOf } from '../support/tour.ts'

const PASSWORD = 'correct horse battery'
const FORM = 'application/x-www-form-urlencoded'
const SAME = { origin: 'http://localhost' }

let api: Api
beforeAll(async () => {
  api = await startApi()
  await api.addAccount('ann@example.org', { isAdmin: true })
  await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

const fetchPage = async (path: string, init: Init = {}) => {
  const response = await api.fetch(path, init)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const send = (path: string, fields: Record<string, string>, init: Init = {}) =>
  fetchPage(path, {
    method: 'POST',
    body: new URLSearchParams(fields).toString(),
    ...init,
    headers: { 'content-type': FORM, ...SAME, ...init.headers },
  })

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';', 1)[0] ?? ''

/** A browser that is signed in: its cookie, and the token that its forms carry. */
async function signIn(email: string, password = PASSWORD, init: Init = {}) {
  const answer = await send('/sign-in', { email, password }, init)
  expect(answer.status).toBe(303)
  const cookie = cookieOf(answer.headers)
  const { text } = await fetchPage('/account', { headers: { cookie } })
  return { cookie, form: /name="form" value="([\w-]+)"/.exec(text)?.[1] ?? '' }
}

const nonceOf = (text: string, path = '') =>
  new RegExp(`${path}[^]*?name="nonce" value="([\\w-]+)"`).exec(text)?.[1] ?? ''

const pathOf = (link: string) => new URL(link).pathname

describe('every page', () => {
  const PATHS = [
    '/',
    '/sign-in',
    '/api',
    '/nowhere',
    '/welcome/x',
    '/p/0123456789abcdefghjkmnpqrs',
    '/pushes/x',
  ]

  test.each(PATHS)('%s is kept by nobody, framed by nobody, and runs nothing but its own', async (path) => {
    const { headers, text } = await fetchPage(path)
    const { cookie } = await signIn('ann@example.org')
    for (const answer of [{ headers, text }, await fetchPage(path, { headers: { cookie } })]) {
      expect(answer.headers.get('cache-control')).toBe('no-store')
      if (answer.headers.get('location') !== null) continue
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toStartWith("default-src 'none'; base-uri 'none'; frame-ancestors 'none'; ")
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(answer.headers.get('x-robots-tag')).toContain('noindex')
      expect(answer.headers.get('referrer-policy')).toMatch(/^(same-origin|no-referrer)$/)
      expect(answer.text).not.toMatch(
        /<script(?! type="module" src="\/assets\/)|<style| style=| on\w+="|javascript:/,
      )
      // Nothing from elsewhere.
      expect(answer.text.replaceAll(/xmlns="[^"]+"/g, '')).not.toMatch(/(src|href|action)="(https?:)?\/\//)
    }
  })

  test('assets are compressed for whoever can read that, and cached for ever', async () => {
    const { text } = await fetchPage('/')
    const [stylesheet] = /\/assets\/pages-[\w]+\.css/.exec(text) ?? ['']
    const plain = await api.fetch(stylesheet)
    const packed = await api.fetch(stylesheet, { headers: { 'accept-encoding': 'br, gzip' } })
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(packed.headers.get('vary')).toBe('accept-encoding')
    expect(packed.headers.get('cache-control')).toContain('immutable')
    const bytes = new Uint8Array(await packed.arrayBuffer())
    expect(Buffer.from(Bun.gunzipSync(bytes)).toString()).toBe(await plain.text())
  })

  test('a page with a secret is never compressed', async () => {
    const { html_url } = await api.create({ payload: 'x'.repeat(5000) })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(
      pathOf(html_url),
      { nonce: nonceOf(text) },
      { headers: { 'accept-encoding': 'gzip' } },
    )
    expect(opened.text).toContain('x'.repeat(5000))
    expect(opened.headers.get('content-encoding')).toBeNull()
  })
})

describe('a secret link', () => {
  test('is the same page for what has expired and what never existed', async () => {
    const { url_token, html_url } = await api.create()
    await api.expire(url_token)
    const [expired, unknown, malformed] = await Promise.all(
      [pathOf(html_url), '/p/0123456789abcdefghjkmnpqrs', '/p/whatever'].map((path) => fetchPage(path)),
    )
    const withoutPath = (text = '') => text.replaceAll(/action="[^"]*"/g, '')
    expect(expired?.status).toBe(404)
    expect(unknown?.status).toBe(404)
    expect(withoutPath(expired?.text)).toBe(withoutPath(unknown?.text))
    expect(withoutPath(malformed?.text)).toBe(withoutPath(unknown?.text))
    const pressed = await Promise.all(
      [pathOf(html_url), '/p/0123456789abcdefghjkmnpqrs'].map((path) => send(path, { nonce: 'x' })),
    )
    expect(pressed.map(({ status }) => status)).toEqual([404, 404])
  })

  test('sets no cookie, whatever happens on it', async () => {
    const { html_url } = await api.create({ passphrase: 'sesame' })
    const path = `${pathOf(html_url)}?locale=de`
    const shown = await fetchPage(path)
    const wrong = await send(path, { nonce: nonceOf(shown.text), passphrase: 'x' })
    const right = await send(path, { nonce: nonceOf(wrong.text), passphrase: 'sesame' })
    for (const { headers, text } of [shown, wrong, right]) {
      expect(headers.get('set-cookie')).toBeNull()
      expect(text).toContain('<html lang="de"')
    }
    expect(right.text).toContain('correct horse')
  })

  test('a nonce opens once, on its own push, in its own process', async () => {
    const { html_url, url_token } = await api.create({ expire_after_views: 3 })
    const other = await api.create()
    const { text } = await fetchPage(pathOf(html_url))
    const nonce = nonceOf(text)
    expect((await send(pathOf(other.html_url), { nonce })).status).toBe(409)
    expect(
      (await send(pathOf(html_url), { nonce: `${nonce.startsWith('A') ? 'B' : 'A'}${nonce.slice(1)}` }))
        .status,
    ).toBe(409)
    expect((await send(pathOf(html_url), { nonce })).text).toContain('correct horse')
    const again = await send(pathOf(html_url), { nonce })
    expect(again.status).toBe(409)
    expect(again.text).not.toContain('correct horse')
    const fresh = nonceOf(again.text)
    await api.restart()
    expect((await send(pathOf(html_url), { nonce: fresh })).status).toBe(409)
    expect((await api.retrieve(url_token)).body.views_remaining).toBe(1)
  })

  test('many presses at once on one page are one view; on many pages, exactly as many as there are', async () => {
    const { html_url } = await api.create({ expire_after_views: 5 })
    const path = pathOf(html_url)
    const one = nonceOf((await fetchPage(path)).text)
    const twice = await Promise.all(Array.from({ length: 10 }, () => send(path, { nonce: one })))
    expect(twice.filter(({ text }) => text.includes('correct horse'))).toHaveLength(1)
    const pages = await Promise.all(Array.from({ length: 30 }, () => fetchPage(path)))
    const opened = await Promise.all(pages.map(({ text }) => send(path, { nonce: nonceOf(text) })))
    expect(opened.filter(({ text }) => text.includes('correct horse'))).toHaveLength(4)
    expect(opened.filter(({ status }) => status === 404)).toHaveLength(26)
  })

  test('hostile payloads and file names are text', async () => {
    const token = await api.addAccount(`mallory-${Math.floor(api.clock.now())}@example.org`)
    const payload = '</pre><script>alert(1)</script>'
    const files = [{ filename: '"><img src=x onerror=alert(1)>.txt', data: 'eA==' }]
    const { html_url } = await api.create({ payload, files, kind: 'text' }, { token })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    expect(opened.text).toContain('&lt;script>alert(1)&lt;/script>')
    expect(opened.text).not.toContain('<script>alert')
    expect(opened.text).not.toContain('<img')
  })

  test('only http and https are ever linked', async () => {
    const { html_url } = await api.create({ kind: 'url', payload: 'HTTPS://EXAMPLE.org/"onclick="x' })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    expect(opened.text).toContain('href="HTTPS://EXAMPLE.org/&quot;onclick=&quot;x"')
  })

  test('is expired by a page of ours alone, and only by whoever may', async () => {
    const { html_url, url_token } = await api.create()
    const shown = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(shown.text) })
    const expire = `/p/${url_token}/expire`
    expect((await send(expire, { nonce: '' })).status).toBe(409)
    // The nonce of the form that opens is none of the form that expires.
    const other = await fetchPage(pathOf(html_url))
    expect((await send(expire, { nonce: nonceOf(other.text) })).status).toBe(409)
    expect((await send(expire, { nonce: nonceOf(opened.text, 'expire"') })).status).toBe(200)
    expect((await fetchPage(pathOf(html_url))).status).toBe(404)

    const kept = await api.create({ deletable_by_viewer: false })
    const preview = await fetchPage(`/p/${kept.url_token}/preview`)
    expect(preview.text).not.toContain('/expire"')
    expect(preview.headers.get('content-type')).toContain('text/html')
  })

  test.each(['viewer', 'owner'])('of files lets its %s end the downloads of the last view', async (who) => {
    const email = `files-of-${who}@example.org`
    const token = await api.addAccount(email)
    const { cookie, form } = await signIn(email)
    const headers = { cookie }
    const files = [{ filename: 'a.txt', data: 'aGVsbG8=' }]
    const { html_url, url_token } = await api.create({ files, expire_after_views: 1 }, { token })
    const { text } = await fetchPage(pathOf(html_url))
    const opened = await send(pathOf(html_url), { nonce: nonceOf(text) })
    const grant = /\/d\/[\w-]+/.exec(opened.text)?.[0] ?? ''
    expect((await api.fetch(grant)).status).toBe(200)
    const shown = who === 'viewer' ? opened : await fetchPage(`/pushes/${url_token}`, { headers })
    expect(shown.text).toContain('Delete the files now, for good')
    const nonce = nonceOf(shown.text, 'expire"')
    const ended =
      who === 'viewer'
        ? await send(`/p/${url_token}/expire`, { nonce })
        : await send(`/pushes/${url_token}/expire`, { nonce, form }, { headers })
    expect(ended.status).toBe(who === 'viewer' ? 200 : 303)
    expect((await api.retrieve(url_token)).body).toMatchObject({ deleted: true })
    expect((await api.fetch(grant)).status).toBe(404)
    expect((await fetchPage(`/pushes/${url_token}`, { headers })).text).not.toContain('/expire"')
  })
})

describe('forms', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://localhost:8080' }],
    ['no origin to speak of', { origin: 'null' }],
    ['what the browser calls another site', { 'sec-fetch-site': 'cross-site' }],
    ['what the browser calls the same site', { 'sec-fetch-site': 'same-site' }],
  ]

  test.each(FOREIGN)('from %s are refused', async (_name, headers) => {
    const { cookie, form } = await signIn('bob@example.org')
    const answers = [
      await send('/sign-in', { email: 'bob@example.org', password: PASSWORD }, { headers }),
      await send('/users/token', { form, name: 'x' }, { headers: { cookie, ...headers } }),
      await send('/sign-out', { form }, { headers: { cookie, ...headers } }),
      await send('/', { 'push[payload]': 'x', 'push[form]': form }, { headers: { cookie, ...headers } }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    expect((await fetchPage('/account', { headers: { cookie } })).status).toBe(200)
  })

  test('of a session carry its token, and no other', async () => {
    const bob = await signIn('bob@example.org')
    const again = await signIn('bob@example.org')
    expect(again.form).not.toBe(bob.form)
    for (const form of ['', again.form, 'x']) {
      expect(
        (await send('/users/token', { form, name: 'x' }, { headers: { cookie: bob.cookie } })).status,
      ).toBe(403)
      const push = { 'push[payload]': 'x', 'push[form]': form }
      expect((await send('/', push, { headers: { cookie: bob.cookie } })).status).toBe(403)
    }
    const right = await send(
      '/users/token',
      { form: bob.form, name: 'right' },
      { headers: { cookie: bob.cookie } },
    )
    expect(right.status).toBe(200)
  })

  test('without a session lead to signing in, and change nothing', async () => {
    const before = (await api.apiTokens().listApiTokens('bob@example.org')).length
    const { status, headers } = await send('/users/token', { name: 'x' })
    expect(status).toBe(303)
    expect(headers.get('location')).toStartWith('/sign-in')
    expect(await api.apiTokens().listApiTokens('bob@example.org')).toHaveLength(before)
  })

  test('of administrators are for administrators', async () => {
    const { cookie, form } = await signIn('bob@example.org')
    for (const path of ['/admin/invitations', '/admin/accounts/1/remove', '/admin/accounts/1/disable']) {
      const { status } = await send(
        path,
        { form, email: 'x@example.org', sure: 'true' },
        { headers: { cookie } },
      )
      expect(status).toBe(403)
    }
    expect((await fetchPage('/admin', { headers: { cookie } })).status).toBe(403)
  })

  test('nobody removes or disables their own account on the pages', async () => {
    const { cookie, form } = await signIn('ann@example.org')
    const own = await api.accounts().requireAccount('ann@example.org')
    for (const what of ['remove', 'disable', 'reset']) {
      const { status } = await send(
        `/admin/accounts/${own.id}/${what}`,
        { form, sure: 'true' },
        { headers: { cookie } },
      )
      expect(status).toBe(403)
    }
    expect((await api.accounts().requireAccount('ann@example.org')).disabledAt).toBeNull()
  })

  test.each([
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n',
      '\r\n--x--',
    ],
    [FORM, 'push[payload]=', ''],
  ])('with a text that is too large name the limit of a text: %s', async (type, before, after) => {
    const body = `${before}${'x'.repeat(12_000_000)}${after}`
    const refused = await fetchPage('/', { body, headers: { 'content-type': type, ...SAME } })
    expect(refused.status).toBe(413)
    expect(refused.text).toContain('The text is too large: at most 1\u00a0MiB.')
    expect(refused.text).toContain('--max-payload-bytes')
  })

  test('that are large, or of another kind, are refused', async () => {
    const headers = { 'content-type': FORM, ...SAME }
    const large = await fetchPage('/sign-in', { body: `email=${'x'.repeat(70_000)}`, headers })
    expect(large.status).toBe(413)
    const other = await fetchPage('/', {
      body: 'push[payload]=x',
      headers: { 'content-type': 'text/plain', ...SAME },
    })
    expect(other.status).toBe(415)
  })
})

describe('sessions', () => {
  test('end after a week without a request, and after a month in any case', async () => {
    const { cookie } = await signIn('bob@example.org')
    const isIn = async () => (await fetchPage('/account', { headers: { cookie } })).status === 200
    const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
    const lastUse = () =>
      database.query<{ at: number }, []>('SELECT max(last_seen_at) AS at FROM sessions').get()?.at
    const day = 24 * 60 * 60 * 1000
    for (let days = 0; days < 28; days += 4) {
      api.clock.advance(4 * day)
      expect(await isIn()).toBe(true)
      // The last use is written down behind the answer.
      for (let n = 0; n < 200 && lastUse() !== api.clock.now(); n += 1) await Bun.sleep(5)
    }
    database.close()
    api.clock.advance(3 * day)
    expect(await isIn()).toBe(false)
    const next = await signIn('bob@example.org')
    api.clock.advance(8 * day)
    expect((await fetchPage('/account', { headers: { cookie: next.cookie } })).status).toBe(303)
  })

  test('end with the account, and with a password set by command', async () => {
    const accounts = api.accounts()
    const first = await signIn('bob@example.org')
    await accounts.disableAccount('bob@example.org')
    expect((await fetchPage('/account', { headers: { cookie: first.cookie } })).status).toBe(303)
    await accounts.enableAccount('bob@example.org')
    expect((await fetchPage('/account', { headers: { cookie: first.cookie } })).status).toBe(303)
    const second = await signIn('bob@example.org')
    await accounts.setPassword({ email: 'bob@example.org', password: 'another long one' })
    expect((await fetchPage('/account', { headers: { cookie: second.cookie } })).status).toBe(303)
    await accounts.setPassword({ email: 'bob@example.org', password: PASSWORD })
  })

  test('are no good to the API', async () => {
    const { cookie } = await signIn('bob@example.org')
    expect((await api.fetch('/api/v2/pushes/active', { headers: { cookie } })).status).toBe(401)
  })

  test('cookies are for this path and, over TLS, for TLS alone', async () => {
    const over = await startApi({ flags: { 'base-url': 'https://once.example/box' } })
    await over.addAccount('bob@example.org')
    const body = new URLSearchParams({ email: 'bob@example.org', password: PASSWORD }).toString()
    const headers = { 'content-type': FORM, host: 'once.example', origin: 'https://once.example' }
    const secure = await over.fetch('/box/sign-in', { body, headers })
    // A name that only this host can set takes the path of the whole host.
    expect(secure.headers.get('set-cookie')).toMatch(
      /^__Host-oncebox_session\.box=\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+; Secure$/,
    )
    expect(secure.headers.get('location')).toBe('/box/')
    const local = { ...headers, host: 'localhost:5100', origin: 'http://localhost:5100' }
    expect((await over.fetch('/sign-in', { body, headers: local })).headers.get('set-cookie')).not.toContain(
      'Secure',
    )
    await over.close()
  })

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/x\r\nset-cookie: a=b',
  ])('signing in leads to no other place: %p', async (next) => {
    const { status, headers } = await send('/sign-in', { email: 'bob@example.org', password: PASSWORD, next })
    expect(status).toBe(303)
    expect(headers.get('location')).toBe('/')
  })
})

describe('signing in', () => {
  test('tells nobody which accounts exist', async () => {
    const texts = []
    for (const email of ['bob@example.org', 'nobody@example.org', 'no address']) {
      const { status, text } = await send(
        '/sign-in',
        { email, password: 'wrong password' },
        { from: '198.51.100.7' },
      )
      expect(status).toBe(422)
      texts.push(text.replaceAll(email, ''))
    }
    expect(new Set(texts).size).toBe(1)
  })

  test('takes as long for an address without an account', async () => {
    const time = async (email: string) => {
      const started = performance.now()
      await send('/sign-in', { email, password: 'wrong password' }, { from: '127.0.0.1' })
      return performance.now() - started
    }
    const known: number[] = []
    const unknown: number[] = []
    for (let n = 0; n < 4; n += 1) {
      known.push(await time('bob@example.org'))
      unknown.push(await time(`nobody-${n}@example.org`))
    }
    const median = (times: number[]) => times.sort((a, b) => a - b)[1] ?? 0
    console.log(`sign-in: known ${median(known).toFixed(0)} ms, unknown ${median(unknown).toFixed(0)} ms`)
    // argon2 takes tens of milliseconds: without it, an unknown address would be answered in one.
    expect(median(unknown)).toBeGreaterThan(median(known) / 3)
    expect(median(unknown)).toBeLessThan(median(known) * 3)
  })

  test('is limited by address and account; a right password is not counted', async () => {
    const limited = await startApi()
    await limited.addAccount('bob@example.org')
    const attempt = async (password: string, from: string) => {
      const body = new URLSearchParams({ email: 'bob@example.org', password }).toString()
      return limited.fetch('/sign-in', { body, from, headers: { 'content-type': FORM, ...SAME } })
    }
    for (let n = 0; n < 12; n += 1) expect((await attempt(PASSWORD, '192.0.2.1')).status).toBe(303)
    // All at once: the tries are counted before they are made.
    const tries = await Promise.all(Array.from({ length: 20 }, () => attempt('wrong password', '192.0.2.2')))
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(10)
    const refused = await attempt(PASSWORD, '192.0.2.2')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    // Who is elsewhere gets in.
    expect((await attempt(PASSWORD, '192.0.2.3')).status).toBe(303)
    await limited.close()
  })

  test('a sign-in between password and code is worth nothing alone, altered or late', async () => {
    const forged = Buffer.from(
      JSON.stringify({ accountId: 1, email: 'ann@example.org', until: 9e15 }),
    ).toString('base64url')
    for (const pending of ['', 'x', forged]) {
      const { status, headers } = await send('/sign-in/code', { pending, code: '123456' })
      expect(status).toBe(422)
      expect(headers.get('set-cookie')).toBeNull()
    }
  })
})

describe('an instance without anonymous access', () => {
  test('creates for accounts alone; links open for everybody', async () => {
    const closed = await startApi({ flags: { 'anonymous-access': 'false' } })
    const token = await closed.addAccount('bob@example.org')
    expect((await closed.fetch('/')).status).toBe(303)
    const body = 'push%5Bpayload%5D=x'
    const refused = await closed.fetch('/', { body, headers: { 'content-type': FORM, ...SAME } })
    expect(refused.status).toBe(303)
    const { html_url, url_token } = await closed.create({}, { token })
    const page = await (await closed.fetch(pathOf(html_url))).text()
    const opened = await closed.fetch(pathOf(html_url), {
      body: new URLSearchParams({ nonce: nonceOf(page) }).toString(),
      headers: { 'content-type': FORM },
    })
    expect(await opened.text()).toContain('correct horse')
    expect((await closed.fetch(`/p/${url_token}/preview`)).status).toBe(200)
    await closed.close()
  })
})

describe('one-time links', () => {
  test('make one account, however many open them at once', async () => {
    const fresh = await startApi()
    const path = fresh.setupPath() ?? ''
    const use = (n: number) =>
      fresh.fetch(path, {
        body: new URLSearchParams({ email: `a${n}@example.org`, password: PASSWORD }).toString(),
        headers: { 'content-type': FORM, ...SAME },
      })
    const answers = await Promise.all([1, 2, 3, 4].map(use))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 404, 404, 404])
    const accounts: Account[] = await fresh.accounts().listAccounts()
    expect(accounts).toHaveLength(1)
    expect(accounts[0]?.isAdmin).toBe(true)
    await fresh.close()
  })

  test('lapse', async () => {
    const fresh = await startApi()
    const path = fresh.setupPath() ?? ''
    expect((await fresh.fetch(path)).status).toBe(200)
    fresh.clock.advance(25 * 60 * 60 * 1000)
    expect((await fresh.fetch(path)).status).toBe(404)
    await fresh.close()
  })

  test('are not in the log, and neither are cookies, passwords or secrets typed into pages', async () => {
    const { cookie, form } = await signIn('ann@example.org')
    await send('/', { 'push[payload]': 'TYPED secret', 'push[form]': form }, { headers: { cookie } })
    await fetchPage('/welcome/0123456789abcdefghjkmnpqrstvwxyz')
    await fetchPage('/pushes?q=TYPED', { headers: { cookie } })
    const log = api.log.join('\n')
    for (const text of [
      'TYPED',
      '0123456789abcdefghjkmnpqrstvwxyz',
      cookie.split('=')[1] ?? '',
      form,
      PASSWORD,
    ]) {
      expect(log).not.toContain(text)
    }
    expect(log).toContain('/welcome/:link')
  })
})

describe('a second factor', () => {
  test('lies in the data folder for nobody to read, and neither do sessions, links and recovery codes', async () => {
    const fresh = await startApi()
    await fresh.addAccount('bob@example.org')
    const post = async (path: string, fields: Record<string, string>, cookie = '') => {
      const body = new URLSearchParams(fields).toString()
      return fresh.fetch(path, { body, headers: { 'content-type': FORM, cookie, ...SAME } })
    }
    const cookie = cookieOf(
      (await post('/sign-in', { email: 'bob@example.org', password: PASSWORD })).headers,
    )
    const offer = await (await fresh.fetch('/account/two-factor', { headers: { cookie } })).text()
    const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(offer)?.[1] ?? ''
    const form = /name="form" value="([\w-]+)"/.exec(offer)?.[1] ?? ''
    const code = codeOf(secret, fresh.clock.now())
    const codes = /<pre id="codes">([^<]+)</.exec(
      await (await post('/account/two-factor', { form, secret, code, password: PASSWORD }, cookie)).text(),
    )?.[1]
    expect(codes?.split('\n')).toHaveLength(10)
    const needles = [
      secret,
      cookie.split('=')[1] ?? '',
      form,
      ...(codes ?? '').split('\n'),
      (fresh.setupPath() ?? '').slice(9),
    ]
    const bytes = needles
      .flatMap((text) => [text, text.replaceAll('-', '')])
      .flatMap((text) => spellingsOf(text))
    const places = readFolder(fresh.dataDir)
    expect(places.length).toBeGreaterThan(2)
    expect(
      findNeedles(
        places,
        bytes.map((needle) => ({ name: needle.toString(), bytes: needle })),
      ),
    ).toEqual([])

    // Who has only the open browser does not replace it, with or without the password.
    const own = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    for (const password of ['', PASSWORD]) {
      const given = { form, secret: own, code: codeOf(own, fresh.clock.now()), password }
      expect((await post('/account/two-factor', given, cookie)).status).toBe(303)
    }

    const pending = await (await post('/sign-in', { email: 'bob@example.org', password: PASSWORD })).text()
    const blob = /name="pending" value="([\w-]+)"/.exec(pending)?.[1] ?? ''
    expect((await post('/sign-in/code', { pending: blob, code })).status).toBe(422)
    fresh.clock.advance(11 * 60 * 1000)
    const late = await post('/sign-in/code', { pending: blob, code: codeOf(secret, fresh.clock.now()) })
    expect(await late.text()).toContain('took too long')
    await fresh.close()
  })
})

describe('what an attacker would try', () => {
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    send(path, fields, { headers: { cookie } })

  /** Bob with a second factor, and a sign-in of his that waits for its code. */
  async function waitingForCode(email: string) {
    await api.addAccount(email)
    const { cookie, form } = await signIn(email)
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    const given = { form, secret, code: codeOf(secret, api.clock.now()), password: PASSWORD }
    expect((await post('/account/two-factor', given, cookie)).status).toBe(200)
    const { text } = await post('/sign-in', { email, password: PASSWORD })
    const pending = /name="pending" value="([\w-]+)"/.exec(text)?.[1] ?? ''
    return { cookie, form, secret, pending }
  }

  test('a sign-in that waits for its code ends with the password, and with the second factor', async () => {
    const first = await waitingForCode('carl@example.org')
    await api.accounts().turnOffTwoFactor('carl@example.org')
    expect((await post('/sign-in/code', { pending: first.pending, code: 'zzz' })).status).toBe(422)
    const second = await waitingForCode('dora@example.org')
    await api.accounts().setPassword({ email: 'dora@example.org', password: 'another long one' })
    api.clock.advance(60_000)
    const code = codeOf(second.secret, api.clock.now())
    expect((await post('/sign-in/code', { pending: second.pending, code })).status).toBe(422)
  })

  test('a reset opens nothing of what the account pushed before, and revokes its tokens', async () => {
    const token = await api.addAccount('erik@example.org')
    const { url_token, html_url } = await api.create({ name: 'for nobody else' }, { token })
    const admin = await signIn('ann@example.org')
    const { id } = await api.accounts().requireAccount('erik@example.org')
    const made = await post(`/admin/accounts/${id}/reset`, { form: admin.form }, admin.cookie)
    const link = /<pre id="link"><code>http:\/\/localhost(\/welcome\/\w+)</.exec(made.text)?.[1] ?? ''
    expect((await fetchPage(link)).text).toContain('earlier pushes still work')
    const entered = await post(link, { password: 'chosen by the admin' })
    const cookie = cookieOf(entered.headers)
    const { text } = await fetchPage('/pushes', { headers: { cookie } })
    expect(text).not.toContain('for nobody else')
    expect(text).not.toContain(url_token)
    expect((await fetchPage(`/pushes/${url_token}`, { headers: { cookie } })).status).toBe(404)
    expect((await api.fetch('/api/v2/pushes/active', { token })).status).toBe(401)
    const shown = await fetchPage(pathOf(html_url), { headers: { cookie } })
    expect(shown.text).not.toContain('used up no view')
    expect((await api.retrieve(url_token)).body.payload).toBe('correct horse')
  })

  test('links are void with the password they were to replace, and with the administrator who made them', async () => {
    await api.addAccount('fred@example.org')
    await api.addAccount('gina@example.org', { isAdmin: true })
    const gina = await signIn('gina@example.org')
    const { id } = await api.accounts().requireAccount('fred@example.org')
    const linkIn = (text: string) => /localhost(\/welcome\/\w+)</.exec(text)?.[1] ?? 'none'
    const reset = async () =>
      linkIn((await post(`/admin/accounts/${id}/reset`, { form: gina.form }, gina.cookie)).text)
    const first = await reset()
    expect((await fetchPage(first)).status).toBe(200)
    await api.accounts().setPassword({ email: 'fred@example.org', password: 'another long one' })
    expect((await fetchPage(first)).status).toBe(404)
    const second = await reset()
    const invited = linkIn(
      (
        await post(
          '/admin/invitations',
          { form: gina.form, email: 'x@example.org', is_admin: 'true' },
          gina.cookie,
        )
      ).text,
    )
    expect([(await fetchPage(second)).status, (await fetchPage(invited)).status]).toEqual([200, 200])
    await api.accounts().disableAccount('gina@example.org')
    expect([(await fetchPage(second)).status, (await fetchPage(invited)).status]).toEqual([404, 404])
  })

  test('an instance keeps an administrator, also when two disable each other at once', async () => {
    const two = await startApi()
    for (const email of ['a@example.org', 'b@example.org']) await two.addAccount(email, { isAdmin: true })
    const disable = (email: string) => two.accounts().disableAccount(email, { keepAdmin: true })
    const results = await Promise.allSettled([disable('a@example.org'), disable('b@example.org')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await two.close()
  })

  test('a long Accept-Language and a long Host cost nothing', async () => {
    const { url_token } = await api.create()
    const before = process.cpuUsage()
    for (let n = 0; n < 20; n += 1) {
      await fetchPage('/', { headers: { 'accept-language': `a${' '.repeat(15_000)}b` } })
      const { status } = await fetchPage(`/p/${url_token}/preview`, { headers: { host: 'x'.repeat(2000) } })
      expect(status).toBe(421)
    }
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(500)
  })

  test('another site cannot have a browser open a link', async () => {
    const { html_url, url_token } = await api.create()
    const nonce = nonceOf((await fetchPage(pathOf(html_url))).text)
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, origin: 'null' }
      expect((await send(pathOf(html_url), { nonce }, { headers })).status).toBe(403)
    }
    expect((await api.retrieve(url_token)).body.views_remaining).toBe(4)
  })

  test('nobody fills the process with tokens or sessions', async () => {
    await api.addAccount('hans@example.org')
    const create = () => api.apiTokens().createApiToken({ email: 'hans@example.org' })
    for (let n = 1; n < 100; n += 1) await create()
    await expect(create()).rejects.toThrow('at most 100')
    const cookies = []
    for (let n = 0; n < 52; n += 1) {
      cookies.push((await signIn('hans@example.org')).cookie)
      api.clock.advance(1000)
    }
    expect((await fetchPage('/account', { headers: { cookie: cookies[0] ?? '' } })).status).toBe(303)
    expect((await fetchPage('/account', { headers: { cookie: cookies.at(-1) ?? '' } })).status).toBe(200)
  })

  test('guesses from many addresses lock nobody out who is signed in', async () => {
    const limited = await startApi()
    await limited.addAccount('bob@example.org')
    const attempt = async (password: string, from: string) => {
      const body = new URLSearchParams({ email: 'bob@example.org', password }).toString()
      return (await limited.fetch('/sign-in', { body, from, headers: { 'content-type': FORM, ...SAME } }))
        .status
    }
    expect(await attempt(PASSWORD, '192.0.2.200')).toBe(303)
    for (let host = 1; host <= 11; host += 1) {
      await Promise.all(Array.from({ length: 10 }, () => attempt('wrong password', `192.0.2.${host}`)))
    }
    expect(await attempt(PASSWORD, '192.0.2.201')).toBe(429)
    expect(await attempt(PASSWORD, '192.0.2.200')).toBe(303)
    await limited.close()
  })
})
