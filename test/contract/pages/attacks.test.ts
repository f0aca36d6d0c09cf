// Attacks on the pages.

import { describe, expect, test } from 'bun:test'
import { startApi } from '../../support/api.ts'
import { valueIn } from '../../support/page-facts.ts'
import { codeOf } from '../../support/tour.ts'
import { cookieOf, FORM, nonceOf, PASSWORD, pathOf, SAME, usePages, welcomePathIn } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('an attacker', () => {
  const post = (path: string, fields: Record<string, string>, cookie = '') =>
    send(path, fields, { headers: { cookie } })

  /** Gives Bob a second factor, and returns a sign-in of his that still needs its code. */
  async function waitingForCode(email: string) {
    await pages.api.addAccount(email)
    const { cookie, form } = await signIn(email)
    const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    const given = { form, secret, code: codeOf(secret, pages.api.clock.now()), password: PASSWORD }
    expect((await post('/account/two-factor', given, cookie)).status).toBe(200)
    const { text } = await post('/sign-in', { email, password: PASSWORD })
    const pending = valueIn(text, 'pending')
    return { cookie, form, secret, pending }
  }

  test('changing the password or the second factor cancels a sign-in that waits for its code', async () => {
    const first = await waitingForCode('carl@example.org')
    await pages.api.accounts().turnOffTwoFactor('carl@example.org')
    expect((await post('/sign-in/code', { pending: first.pending, code: 'zzz' })).status).toBe(422)
    const second = await waitingForCode('dora@example.org')
    await pages.api.accounts().setPassword({ email: 'dora@example.org', password: 'another long one' })
    pages.api.clock.advance(60_000)
    const code = codeOf(second.secret, pages.api.clock.now())
    expect((await post('/sign-in/code', { pending: second.pending, code })).status).toBe(422)
  })

  test('a reset by an administrator opens no earlier pushes and revokes the tokens', async () => {
    const token = await pages.api.addAccount('erik@example.org')
    const { url_token, html_url } = await pages.api.create({ name: 'for nobody else' }, { token })
    const admin = await signIn('ann@example.org')
    const { id } = await pages.api.accounts().requireAccount('erik@example.org')
    const made = await post(`/admin/accounts/${id}/reset`, { form: admin.form }, admin.cookie)
    const link = welcomePathIn(made.text)
    expect((await fetchPage(link)).text).toContain('What you shared earlier still works')
    const entered = await post(link, { password: 'chosen by the admin' })
    const cookie = cookieOf(entered.headers)
    const { text } = await fetchPage('/pushes', { headers: { cookie } })
    expect(text).not.toContain('for nobody else')
    expect(text).not.toContain(url_token)
    expect((await fetchPage(`/pushes/${url_token}`, { headers: { cookie } })).status).toBe(404)
    expect((await pages.api.fetch('/api/v2/pushes/active', { token })).status).toBe(401)
    const shown = await fetchPage(pathOf(html_url), { headers: { cookie } })
    expect(shown.text).not.toContain('does not count as an opening')
    expect((await pages.api.retrieve(url_token)).body.payload).toBe('correct horse')
  })

  test('links become invalid when the password is set another way or their administrator is disabled', async () => {
    await pages.api.addAccount('fred@example.org')
    await pages.api.addAccount('gina@example.org', { isAdmin: true })
    const gina = await signIn('gina@example.org')
    const { id } = await pages.api.accounts().requireAccount('fred@example.org')
    const reset = async () =>
      welcomePathIn((await post(`/admin/accounts/${id}/reset`, { form: gina.form }, gina.cookie)).text)
    const first = await reset()
    expect((await fetchPage(first)).status).toBe(200)
    await pages.api.accounts().setPassword({ email: 'fred@example.org', password: 'another long one' })
    expect((await fetchPage(first)).status).toBe(404)
    const second = await reset()
    const invited = welcomePathIn(
      (
        await post(
          '/admin/invitations',
          { form: gina.form, email: 'x@example.org', is_admin: 'true' },
          gina.cookie,
        )
      ).text,
    )
    expect([(await fetchPage(second)).status, (await fetchPage(invited)).status]).toEqual([200, 200])
    await pages.api.accounts().disableAccount('gina@example.org')
    expect([(await fetchPage(second)).status, (await fetchPage(invited)).status]).toEqual([404, 404])
  })

  test('if two administrators disable each other at once, one stays enabled', async () => {
    const two = await startApi()
    for (const email of ['a@example.org', 'b@example.org']) await two.addAccount(email, { isAdmin: true })
    const disable = (email: string) => two.accounts().disableAccount(email, { keepAdmin: true })
    const results = await Promise.allSettled([disable('a@example.org'), disable('b@example.org')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await two.close()
  })

  test('a long Accept-Language or Host takes no noticeable time', async () => {
    const { url_token } = await pages.api.create()
    const before = process.cpuUsage()
    for (let n = 0; n < 20; n += 1) {
      await fetchPage('/', { headers: { 'accept-language': `a${' '.repeat(15_000)}b` } })
      const { status } = await fetchPage(`/p/${url_token}/preview`, { headers: { host: 'x'.repeat(2000) } })
      expect(status).toBe(421)
    }
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1000).toBeLessThan(500)
  })

  test('another site cannot make a browser open a secret link', async () => {
    const { html_url, url_token } = await pages.api.create()
    const nonce = nonceOf((await fetchPage(pathOf(html_url))).text)
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, origin: 'null' }
      expect((await send(pathOf(html_url), { nonce }, { headers })).status).toBe(403)
    }
    expect((await pages.api.retrieve(url_token)).body.views_remaining).toBe(4)
  })

  test('the numbers of tokens and sessions are limited', async () => {
    await pages.api.addAccount('hans@example.org')
    const create = () => pages.api.apiTokens().createApiToken({ email: 'hans@example.org' })
    for (let n = 1; n < 100; n += 1) await create()
    await expect(create()).rejects.toThrow('at most 100')
    const cookies = []
    for (let n = 0; n < 52; n += 1) {
      cookies.push((await signIn('hans@example.org')).cookie)
      pages.api.clock.advance(1000)
    }
    expect((await fetchPage('/account', { headers: { cookie: cookies[0] ?? '' } })).status).toBe(303)
    expect((await fetchPage('/account', { headers: { cookie: cookies.at(-1) ?? '' } })).status).toBe(200)
  })

  test('guesses from many addresses do not lock out the owner at an address that has a session', async () => {
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
