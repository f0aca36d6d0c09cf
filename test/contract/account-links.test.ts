// One-time links on the pages: which link replaces which, and which changes of an account revoke links.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'
import { attributesIn, factsOf } from '../support/page-facts.ts'
import { createPeople, type People, type Person } from '../support/people.ts'
import { welcomePathIn } from './pages/pages.ts'

const ANN = 'ann@example.org'
const BOB = 'bob@example.org'
const EVE = 'eve@example.org'

let api: Api
let people: People
let ann: Person
beforeEach(async () => {
  api = await startApi()
  people = createPeople(api)
  await api.addAccount(ANN, { isAdmin: true })
  await api.addAccount(BOB)
  await api.addAccount(EVE, { isAdmin: true })
  ann = await people.signIn(ANN)
})
afterEach(() => api.close())

const idOf = async (email: string) => (await api.accounts().requireAccount(email)).id
const reset = async (email: string, by = ann) =>
  welcomePathIn((await by.post(`/admin/accounts/${await idOf(email)}/reset`, {})).text)
const invite = async (email: string, by = ann) =>
  welcomePathIn((await by.post('/admin/invitations', { email })).text)
const statuses = (links: string[]) => Promise.all(links.map(async (link) => (await people.get(link)).status))

test('a new reset link replaces the earlier one of the same account and no other link', async () => {
  const links = [await reset(BOB), await reset(EVE), await invite('x@example.org')]
  expect(await statuses(links)).toEqual([200, 200, 200])
  const next = await reset(BOB)
  expect(await statuses([...links, next])).toEqual([404, 200, 200, 200])
})

test('a new invitation replaces that for the same address and no other', async () => {
  const links = [await invite('x@example.org'), await invite('y@example.org'), await reset(BOB)]
  const next = await invite('x@example.org')
  expect(await statuses([...links, next])).toEqual([404, 200, 200, 200])
})

test('a reset link lives for a day and an invitation for a week', async () => {
  const links = [await reset(BOB), await invite('x@example.org')]
  api.clock.advance(DAY - 1)
  expect(await statuses(links)).toEqual([200, 200])
  api.clock.advance(1)
  expect(await statuses(links)).toEqual([404, 200])
  api.clock.advance(6 * DAY)
  expect(await statuses(links)).toEqual([404, 404])
})

test('removing an account revokes its reset links; links for other accounts stay', async () => {
  const links = [await reset(BOB), await reset(EVE), await invite('x@example.org')]
  await api.accounts().removeAccount(BOB)
  expect(await statuses(links)).toEqual([404, 200, 200])
})

test.each<[string, () => Promise<unknown>]>([
  ['is removed', () => api.accounts().removeAccount(EVE)],
  ['is disabled', () => api.accounts().disableAccount(EVE)],
  ['is demoted', () => api.accounts().unmakeAdmin(EVE)],
])(
  'the links that an account created are revoked when it %s; links that others created stay',
  async (_, end) => {
    const eve = await people.signIn(EVE)
    const made = [await reset(BOB, eve), await invite('x@example.org', eve)]
    const others = [await invite('y@example.org')]
    expect(await statuses([...made, ...others])).toEqual([200, 200, 200])
    await end()
    expect(await statuses([...made, ...others])).toEqual([404, 404, 200])
  },
)

test('a used link is gone; the links for other accounts stay', async () => {
  const links = [await reset(BOB), await reset(EVE), await invite('x@example.org')]
  const used = await people.post(links[0] ?? '', { password: 'another long password' })
  expect(used.status).toBe(303)
  expect(await statuses(links)).toEqual([404, 200, 200])
})

test('an administrator revokes one link; every other link stays, including the setup link', async () => {
  const links = [await invite('x@example.org'), await invite('y@example.org')]
  const { text } = await ann.get('/admin')
  const [first = ''] = /\/admin\/invitations\/\d+\/remove/.exec(text) ?? []
  expect((await ann.post(first, {})).status).toBe(303)
  expect(await statuses(links)).toEqual([404, 200])
})

test('an invitation makes an account of the chosen kind and address', async () => {
  const link = welcomePathIn(
    (await ann.post('/admin/invitations', { email: 'x@example.org', is_admin: 'true' })).text,
  )
  const plain = await invite('y@example.org')
  for (const path of [link, plain])
    await people.post(path, { email: 'other@example.org', password: 'another long password' })
  expect((await api.accounts().requireAccount('x@example.org')).isAdmin).toBe(true)
  expect((await api.accounts().requireAccount('y@example.org')).isAdmin).toBe(false)
  expect(await api.accounts().findAccount('other@example.org')).toBeNull()
})

test('a new administrator sees the first steps; a new member sees the create form', async () => {
  const link = welcomePathIn(
    (await ann.post('/admin/invitations', { email: 'x@example.org', is_admin: 'true' })).text,
  )
  const used = await people.post(link, { password: 'another long password' })
  expect(used.headers.get('location')).toBe('/admin/welcome')
  const next = await people.enter(used)
  const { status, text } = await next.get('/admin/welcome')
  expect(status).toBe(200)
  expect(factsOf(text).headings[0]).toBe('You administer this Oncebox now')
  expect(attributesIn(text, 'ul.next-steps .title', 'href')).toEqual([
    '/admin#backups',
    '/account/two-factor',
    '/admin#invite',
  ])

  const member = await people.post(await invite('y@example.org'), { password: 'another long password' })
  expect(member.headers.get('location')).toBe('/')
  expect((await (await people.enter(member)).get('/admin/welcome')).status).toBe(403)
  const password = { password: 'another long password' }
  expect((await people.post(await reset(EVE), password)).headers.get('location')).toBe('/')
})

test('a weak password creates or changes no account, and the problem is shown beside its field', async () => {
  const weak = { password: 'passwordpassword' }
  const links = [await reset(BOB), await invite('x@example.org')]
  const answers = [
    ...(await Promise.all(links.map((link) => people.post(link, weak)))),
    await ann.post('/account/password', { ...weak, current: people.password }),
  ]
  for (const { status, text } of answers) {
    expect(status).toBe(422)
    expect(factsOf(text).problems.password).toStartWith('This is easy to guess')
  }
  expect(await statuses(links)).toEqual([200, 200])
  await expect(
    api.accounts().addAccount({ email: 'y@example.org', isAdmin: true, ...weak }),
  ).rejects.toThrow()
  await expect(api.accounts().setPassword({ email: BOB, ...weak })).rejects.toThrow()
})
