// The administration page: people first, then health, then the settings.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { type Api, startApi } from '../support/api.ts'
import { alterDatabase } from '../support/damage.ts'
import { attributesIn, elementsIn, textsIn } from '../support/page-facts.ts'
import { createPeople, type Person } from '../support/people.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'

let api: Api
let ann: Person
beforeEach(async () => {
  api = await startApi({ flags: { 'max-files': '7', port: '5100' } })
  await api.addAccount(ANN, { isAdmin: true })
  ann = await createPeople(api).signIn(ANN)
})
afterEach(() => api.close())

const withoutTags = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
/** Returns the row of an account in the list. */
const rowOf = (html: string, email: string) =>
  textsIn(html, '#people li > div').find((row) => row.startsWith(email)) ?? ''

test('each account shows its last sign-in, its active pushes and their size', async () => {
  const token = await api.addAccount(BOB)
  for (const payload of ['x'.repeat(3_000), 'gone']) await api.create({ payload }, { token })
  const text = (await ann.get('/admin')).text
  expect(rowOf(text, ANN)).toMatch(/Last sign-in .* · 0 active secrets/)
  expect(rowOf(text, BOB)).toMatch(/Has not signed in yet · 2 active secrets · 3\sKiB/)
  expect(text).not.toContain('x'.repeat(50))
})

test('administrators without a second factor are marked, and counted at the top of the page', async () => {
  await api.addAccount(BOB, { isAdmin: true })
  await api.addAccount('eve@example.org')
  const protect = (email: string) =>
    alterDatabase(api.dataDir, `UPDATE accounts SET totp_secret = x'00' WHERE email = '${email}'`)
  const look = async () => {
    const { text } = await ann.get('/admin')
    return { text, attention: textsIn(text, '#attention').join() }
  }
  const none = await look()
  expect(none.attention).toContain('2 administrators have no second factor.')
  expect(
    [ANN, BOB, 'eve@example.org'].map((email) => rowOf(none.text, email).includes('no second factor')),
  ).toEqual([...[true, true, false]])
  protect(BOB)
  const own = await look()
  expect(own.attention).toContain('1 administrator has no second factor.')
  expect(own.text).toContain('<a href="/account/two-factor">What to do</a>')
  protect(ANN)
  expect((await look()).attention).not.toContain('second factor')
})

test('the page shows people first, then health, then settings', async () => {
  const { text } = await ann.get('/admin')
  const cards = elementsIn(text, 'section[id]').map(({ attributes }) => attributes.id ?? '')
  const order = ['people', 'invite', 'health', 'settings']
  expect(cards.filter((id) => order.includes(id))).toEqual(order)
})

test('the page is as wide as a desktop, because of the table of settings', async () => {
  expect((await ann.get('/admin')).text).toContain('<body class="branded wide"')
})

test('changed settings are shown, defaults are folded', async () => {
  const { text } = await ann.get('/admin')
  const changed = textsIn(text, '#settings > table code')
  const folded = textsIn(text, '#settings details code')
  expect(changed).toContain('--max-files')
  expect(changed).not.toContain('--sweep-every')
  expect(folded).toContain('--sweep-every')
  expect(folded).not.toContain('--max-files')
})

test('a thousand accounts are paged and searched, and an action redirects to the same page of the list', async () => {
  alterDatabase(api.dataDir, SIXTY_ACCOUNTS)
  const first = await ann.get('/admin')
  expect(withoutTags(first.text)).toContain('61 accounts')
  expect(first.text).toContain('href="/admin?page=2"')
  expect(first.text.length).toBeLessThan(70_000)
  const second = await ann.get('/admin?page=2')
  expect(withoutTags(second.text)).toContain('Page 2 of 3')
  expect(second.text).toContain('p40@example.org')
  const found = await ann.get('/admin?q=P1')
  expect(withoutTags(found.text)).toContain('10 accounts')
  const [action = ''] = /\/admin\/accounts\/\d+\/disable\?q=P1/.exec(found.text) ?? []
  expect((await ann.post(action, {})).headers.get('location')).toBe('/admin?q=P1')
  for (const page of ['0', '-1', '1.5', 'x', '99999999'])
    expect(withoutTags((await ann.get(`/admin?page=${page}`)).text)).toContain('Page 1 of 3')
})

test('only another administrator promotes and demotes an administrator', async () => {
  await api.addAccount(BOB)
  const bob = await createPeople(api).signIn(BOB)
  const { text } = await ann.get('/admin')
  const actions = [...text.matchAll(/\/admin\/accounts\/(\d+)\/promote/g)]
  expect(actions).toHaveLength(1)
  const promote = actions[0]?.[0] ?? ''
  expect((await bob.get('/admin')).status).toBe(403)
  expect((await bob.post(promote, {})).status).toBe(403)
  expect((await ann.post(promote, {})).headers.get('location')).toBe('/admin')
  expect(rowOf((await ann.get('/admin')).text, BOB)).toContain('Administrator')
  expect((await bob.get('/admin')).status).toBe(200)
  const demote = promote.replace('promote', 'demote')
  expect((await bob.post(demote, {})).status).toBe(403)
  await ann.post(demote, {})
  expect((await bob.get('/admin')).status).toBe(403)
  expect(rowOf((await ann.get('/admin')).text, BOB)).not.toContain('Administrator')
})

test('problems are at the top of the page', async () => {
  const { text } = await ann.get('/admin')
  const attention = text.slice(text.indexOf('id="attention"'), text.indexOf('people-title'))
  expect(withoutTags(attention)).toContain('No backups are made. What to do')
  expect(attention).toContain('href="#backups"')
})

test('a search matches text literally, without wildcards', async () => {
  const { status, text } = await ann.get(`/admin?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
  expect(status).toBe(200)
  expect(text).not.toContain('<script>alert')
  expect(withoutTags(text)).toContain('0 accounts')
})

/** Matches p00 to p59. */
const SIXTY_ACCOUNTS = `
  WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 59)
  INSERT INTO accounts (email, password_hash, is_admin, created_at, last_sign_in_at)
  SELECT printf('p%02d@example.org', n), 'x', 0, 0, 0 FROM numbers`

test('the contents name every part of the page, and a removal names its account', async () => {
  await api.addAccount(BOB)
  const { text } = await ann.get('/admin')
  const targets = attributesIn(text, '.indexed > nav a', 'href')
  expect(targets.map((target) => target.slice(1))).toEqual(attributesIn(text, 'section.card', 'id'))
  expect(textsIn(text, 'label[for^="sure-"]')[0]).toContain(BOB)
})
