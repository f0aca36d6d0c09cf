// Signed-in people on the pages: where forms redirect, and what lists and searches show.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { valueIn } from '../support/page-facts.ts'
import { createPeople, type People } from '../support/people.ts'
import { welcomePathIn } from './pages/pages.ts'

let api: Api
let people: People
let token: string
beforeAll(async () => {
  api = await startApi()
  people = createPeople(api)
  token = await api.addAccount('bob@example.org')
})
afterAll(() => api.close())

test.each([
  '/pushes?q=two+words',
  '/pushes?q=a%2Bb%26c&show=expired',
  "/pushes?q=~!*'()&page=2",
  '/pushes?q=%C3%87elik',
])('a sign-in redirects to %s', async (path) => {
  const asked = await people.get(path)
  const location = asked.headers.get('location') ?? ''
  expect(location).toStartWith('/sign-in?next=')
  const { text } = await people.get(location)
  const next = valueIn(text, 'next')
  const entered = await people.post('/sign-in', {
    email: 'bob@example.org',
    password: people.password,
    next,
  })
  const wanted = new URL(path, 'http://localhost')
  const reached = new URL(entered.headers.get('location') ?? '', 'http://localhost')
  expect(reached.pathname).toBe(wanted.pathname)
  expect([...reached.searchParams]).toEqual([...wanted.searchParams])
})

test('an unknown page shows a signed-in person their navigation', async () => {
  const bob = await people.signIn('bob@example.org')
  for (const path of ['/nowhere', '/admin', '/pushes/0123456789abcdefghjkmnpqrs']) {
    const { text } = await bob.get(path)
    expect(text).toContain('href="/pushes"')
    expect(text).not.toContain('href="/sign-in"')
  }
  expect((await people.get('/nowhere')).text).toContain('href="/sign-in"')
})

test('an owner whose session has ended is warned that opening will count as a view', async () => {
  const bob = await people.signIn('bob@example.org')
  const { url_token } = await api.create({ expire_after_views: 1 }, { token })
  const { text } = await bob.get(`/p/${url_token}/r`)
  const opened = { form: valueIn(text, 'form'), nonce: valueIn(text, 'nonce') }
  expect(opened.form).not.toBe('')
  const asked = await people.post(`/p/${url_token}/r`, opened)
  expect(asked.status).toBe(409)
  expect(asked.text).toContain('You are signed out')
  expect((await api.audit(url_token, token)).map(({ kind }) => kind)).toEqual(['creation'])
  const again = await people.post(`/p/${url_token}/r`, { nonce: valueIn(asked.text, 'nonce') })
  expect(again.status).toBe(200)
})

test.each([
  ['/admin/invitations', '/admin'],
  ['/admin/accounts/7/reset', '/admin'],
  ['/admin/backup', '/admin'],
  ['/admin/webhooks/delete', '/admin/webhooks'],
  ['/account/password', '/account'],
  ['/account/mail/test', '/account/notices'],
  ['/account/webhooks/delete', '/account/notices'],
  ['/sign-out', '/account'],
  ['/account/two-factor/off', '/account/two-factor'],
  ['/sign-in/code', '/sign-in'],
  ['/users/token/revoke', '/users/token'],
  ['/pushes/0123456789abcdefghjkmnpqrs/unlock', '/pushes/0123456789abcdefghjkmnpqrs'],
  ['/p/0123456789abcdefghjkmnpqrs/expire', '/p/0123456789abcdefghjkmnpqrs'],
])('a GET of the form URL %s redirects to its page and keeps the language', async (address, page) => {
  const { status, headers } = await people.get(`${address}?locale=de`)
  expect({ status, location: headers.get('location') }).toEqual({
    status: 303,
    location: `${page}?locale=de`,
  })
})

test('expiring from a list redirects back to the list with a notice', async () => {
  const bob = await people.signIn('bob@example.org')
  const { url_token } = await api.create({ name: 'for Cleo' }, { token })
  const page = await bob.get(`/pushes/${url_token}`)
  expect(page.text).toContain(`action="/pushes/${url_token}/expire"`)
  const expired = await bob.post(`/pushes/${url_token}/expire`, {})
  expect(expired.status).toBe(303)
  const shown = await bob.get(expired.headers.get('location') ?? '')
  expect(shown.text).toContain('for Cleo')
  expect(shown.text).toContain('has been destroyed')
  expect((await api.retrieve(url_token)).body).toMatchObject({ expired: true, deleted: true })
})

test('a list form cannot expire a push of another owner', async () => {
  await api.addAccount('eve@example.org')
  const eve = await people.signIn('eve@example.org')
  const { url_token } = await api.create({ deletable_by_viewer: true }, { token })
  expect((await eve.post(`/pushes/${url_token}/expire`, {})).status).toBe(404)
  const bob = await people.signIn('bob@example.org')
  expect((await bob.post(`/pushes/${url_token}/expire`, { form: 'x' })).status).toBe(403)
  const other = { headers: { 'sec-fetch-site': 'cross-site' } }
  expect((await bob.post(`/pushes/${url_token}/expire`, {}, other)).status).toBe(403)
  expect((await api.retrieve(url_token)).body.expired).toBe(false)
})

test('a role change by command takes effect at once, and the invitations of a demoted administrator are revoked', async () => {
  await api.addAccount('ann@example.org', { isAdmin: true })
  const bob = await people.signIn('bob@example.org')
  expect((await bob.get('/admin')).status).toBe(403)
  await api.accounts().makeAdmin('bob@example.org')
  expect((await bob.get('/admin')).status).toBe(200)
  const made = await bob.post('/admin/invitations', { email: 'x@example.org' })
  const link = welcomePathIn(made.text)
  expect((await people.get(link)).status).toBe(200)
  await api.accounts().unmakeAdmin('bob@example.org')
  expect((await bob.get('/admin')).status).toBe(403)
  expect((await people.get(link)).status).toBe(404)
  await expect(api.accounts().unmakeAdmin('ann@example.org')).rejects.toThrow('last administrator')
})

test('demoting both of two administrators at once leaves one of them', async () => {
  const two = await startApi()
  for (const email of ['a@example.org', 'b@example.org']) await two.addAccount(email, { isAdmin: true })
  const results = await Promise.allSettled(
    ['a@example.org', 'b@example.org'].map((email) => two.accounts().unmakeAdmin(email)),
  )
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  await two.close()
})

test.each([
  ['celik', 'Çelik’s laptop'],
  ['ÇELİK', 'celik two'],
  ['isik', 'Işık'],
  ['IŞIK', 'isik two'],
  ['strasse', 'Hauptstraße'],
  ['hauptSTRAẞE', 'hauptstrasse two'],
])('searching for %s finds %s', async (query, name) => {
  await api.create({ name }, { token })
  const bob = await people.signIn('bob@example.org')
  const { text } = await bob.get(`/pushes?q=${encodeURIComponent(query)}`)
  expect(text).toContain(name)
})
