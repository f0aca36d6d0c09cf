// Signing in and out, and sessions.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { ARGON2_COST } from '../../../src/crypto/passphrase.ts'
import { startApi } from '../../support/api.ts'
import { workedMs } from '../../support/effort.ts'
import { waitUntil } from '../../support/waiting.ts'
import { FORM, PASSWORD, SAME, usePages } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('sessions', () => {
  test('expire after a week without a request, and after a month in any case', async () => {
    const { cookie } = await signIn('bob@example.org')
    const isIn = async () => (await fetchPage('/account', { headers: { cookie } })).status === 200
    const database = new Database(join(pages.api.dataDir, 'oncebox.db'), { readonly: true })
    const lastUse = () =>
      database.query<{ at: number }, []>('SELECT max(last_seen_at) AS at FROM sessions').get()?.at
    const day = 24 * 60 * 60 * 1000
    for (let days = 0; days < 28; days += 4) {
      pages.api.clock.advance(4 * day)
      expect(await isIn()).toBe(true)
      // The last use is written after the response.
      await waitUntil(() => lastUse() === pages.api.clock.now())
    }
    database.close()
    pages.api.clock.advance(3 * day)
    expect(await isIn()).toBe(false)
    const next = await signIn('bob@example.org')
    pages.api.clock.advance(8 * day)
    expect((await fetchPage('/account', { headers: { cookie: next.cookie } })).status).toBe(303)
  })

  test('are revoked with the account, and when a command sets the password', async () => {
    const accounts = pages.api.accounts()
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

  test('do not authenticate API requests', async () => {
    const { cookie } = await signIn('bob@example.org')
    expect((await pages.api.fetch('/api/v2/pushes/active', { headers: { cookie } })).status).toBe(401)
  })

  test('cookies have the path of the instance and, over TLS, the Secure attribute', async () => {
    const over = await startApi({ flags: { 'base-url': 'https://once.example/box' } })
    await over.addAccount('bob@example.org')
    const body = new URLSearchParams({ email: 'bob@example.org', password: PASSWORD }).toString()
    const headers = { 'content-type': FORM, host: 'once.example', origin: 'https://once.example' }
    const secure = await over.fetch('/box/sign-in', { body, headers })
    // A `__Host-` name requires the path `/`.
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
  ])('signing in does not redirect to %p', async (next) => {
    const { status, headers } = await send('/sign-in', { email: 'bob@example.org', password: PASSWORD, next })
    expect(status).toBe(303)
    expect(headers.get('location')).toBe('/')
  })
})

describe('signing in', () => {
  test('does not reveal which accounts exist', async () => {
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
    const slow = await startApi({ argon2Cost: ARGON2_COST })
    await slow.addAccount('bob@example.org')
    const time = async (email: string) => {
      const body = new URLSearchParams({ email, password: 'wrong password' }).toString()
      const before = workedMs()
      await slow.fetch('/sign-in', { body, from: '127.0.0.1', headers: { 'content-type': FORM, ...SAME } })
      return workedMs() - before
    }
    const known: number[] = []
    const unknown: number[] = []
    for (let n = 0; n < 4; n += 1) {
      known.push(await time('bob@example.org'))
      unknown.push(await time(`nobody-${n}@example.org`))
    }
    // argon2 takes tens of milliseconds of CPU time. If it were skipped, an unknown address would be answered
    // in one.
    const least = (times: number[]) => Math.min(...times)
    expect(least(unknown)).toBeGreaterThan(least(known) / 4)
    expect(least(unknown)).toBeLessThan(least(known) * 4)
    await slow.close()
  })

  test('is limited by address and account; a right password is not counted', async () => {
    const limited = await startApi()
    await limited.addAccount('bob@example.org')
    const attempt = async (password: string, from: string) => {
      const body = new URLSearchParams({ email: 'bob@example.org', password }).toString()
      return limited.fetch('/sign-in', { body, from, headers: { 'content-type': FORM, ...SAME } })
    }
    for (let n = 0; n < 12; n += 1) expect((await attempt(PASSWORD, '192.0.2.1')).status).toBe(303)
    // Concurrent tries are counted before the passwords are checked.
    const tries = await Promise.all(Array.from({ length: 20 }, () => attempt('wrong password', '192.0.2.2')))
    expect(tries.filter(({ status }) => status === 429)).toHaveLength(10)
    const refused = await attempt(PASSWORD, '192.0.2.2')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61)
    // A client at another address is not locked out.
    expect((await attempt(PASSWORD, '192.0.2.3')).status).toBe(303)
    await limited.close()
  })

  test('the token between password and code cannot be used alone, altered or late', async () => {
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
