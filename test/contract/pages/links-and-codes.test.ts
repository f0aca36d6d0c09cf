// One-time links and the second factor.

import { describe, expect, test } from 'bun:test'
import type { Account } from '../../../src/domain/account.ts'
import { startApi } from '../../support/api.ts'
import { findNeedles, readFolder, spellingsOf } from '../../support/needles.ts'
import { textsIn, valueIn } from '../../support/page-facts.ts'
import { codeOf } from '../../support/tour.ts'
import { cookieOf, FORM, PASSWORD, SAME, usePages } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('one-time links', () => {
  test('create one account, even if many browsers use them at once', async () => {
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

  test('expire', async () => {
    const fresh = await startApi()
    const path = fresh.setupPath() ?? ''
    expect((await fresh.fetch(path)).status).toBe(200)
    fresh.clock.advance(25 * 60 * 60 * 1000)
    expect((await fresh.fetch(path)).status).toBe(404)
    await fresh.close()
  })

  test('never appear in the log, nor do cookies, passwords or typed secrets', async () => {
    const { cookie, form } = await signIn('ann@example.org')
    await send('/', { 'push[payload]': 'TYPED secret', 'push[form]': form }, { headers: { cookie } })
    await fetchPage('/welcome/0123456789abcdefghjkmnpqrstvwxyz')
    await fetchPage('/pushes?q=TYPED', { headers: { cookie } })
    const log = pages.api.log.join('\n')
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
  test('is not readable in the data folder, nor are sessions, links and recovery codes', async () => {
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
    const secret = valueIn(offer, 'secret')
    const form = valueIn(offer, 'form')
    const code = codeOf(secret, fresh.clock.now())
    const turnedOn = await post('/account/two-factor', { form, secret, code, password: PASSWORD }, cookie)
    const [codes] = textsIn(await turnedOn.text(), '#codes')
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

    // An unattended browser cannot replace the second factor, with or without the password.
    const own = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
    for (const password of ['', PASSWORD]) {
      const given = { form, secret: own, code: codeOf(own, fresh.clock.now()), password }
      expect((await post('/account/two-factor', given, cookie)).status).toBe(303)
    }

    const pending = await (await post('/sign-in', { email: 'bob@example.org', password: PASSWORD })).text()
    const blob = valueIn(pending, 'pending')
    expect((await post('/sign-in/code', { pending: blob, code })).status).toBe(422)
    fresh.clock.advance(11 * 60 * 1000)
    const late = await post('/sign-in/code', { pending: blob, code: codeOf(secret, fresh.clock.now()) })
    expect(await late.text()).toContain('took too long')
    await fresh.close()
  })
})
