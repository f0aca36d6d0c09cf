// CSRF protection and permissions of forms.

import { describe, expect, test } from 'bun:test'
import { FORM, PASSWORD, SAME, usePages } from './pages.ts'

const pages = usePages()
const { fetchPage, send, signIn } = pages

describe('forms', () => {
  const FOREIGN: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://localhost:8080' }],
    ['an opaque origin', { origin: 'null' }],
    ['a site that the browser marks as cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['a site that the browser marks as same-site', { 'sec-fetch-site': 'same-site' }],
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

  test('of a session require its form token', async () => {
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

  test('without a session redirect to sign-in and change nothing', async () => {
    const before = (await pages.api.apiTokens().listApiTokens('bob@example.org')).length
    const { status, headers } = await send('/users/token', { name: 'x' })
    expect(status).toBe(303)
    expect(headers.get('location')).toStartWith('/sign-in')
    expect(await pages.api.apiTokens().listApiTokens('bob@example.org')).toHaveLength(before)
  })

  test('of the administration are forbidden to other accounts', async () => {
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

  test('an administrator cannot remove or disable their own account', async () => {
    const { cookie, form } = await signIn('ann@example.org')
    const own = await pages.api.accounts().requireAccount('ann@example.org')
    for (const what of ['remove', 'disable', 'reset']) {
      const { status } = await send(
        `/admin/accounts/${own.id}/${what}`,
        { form, sure: 'true' },
        { headers: { cookie } },
      )
      expect(status).toBe(403)
    }
    expect((await pages.api.accounts().requireAccount('ann@example.org')).disabledAt).toBeNull()
  })

  test.each([
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="push[payload]"\r\n\r\n',
      '\r\n--x--',
    ],
    [FORM, 'push[payload]=', ''],
  ])('with too large a text state the limit for a text: %s', async (type, before, after) => {
    const body = `${before}${'x'.repeat(12_000_000)}${after}`
    const refused = await fetchPage('/', { body, headers: { 'content-type': type, ...SAME } })
    expect(refused.status).toBe(413)
    expect(refused.text).toContain('The text is too large: at most 1\u00a0MiB.')
    expect(refused.text).toContain('--max-payload-bytes')
  })

  test('of excessive size or another content type are refused', async () => {
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
