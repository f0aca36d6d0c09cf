// What an owner can see and do: the audit log, the lists, and expiring a push.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { createPeople } from '../support/people.ts'
import { runScenarios } from '../support/scenarios.ts'

let api: Api
let ann: string
let bob: string

beforeEach(async () => {
  api = await startApi()
  ann = await api.addAccount('ann@example.org')
  bob = await api.addAccount('bob@example.org')
})

afterEach(() => api.close())

test('the audit log lists visits, oldest first, fifty a page', async () => {
  const push = await api.create(
    { expire_after_views: 100 },
    { token: ann, from: '192.0.2.9', headers: { 'user-agent': 'tool/1' } },
  )
  for (let i = 0; i < 55; i += 1) {
    await api.retrieve(push.url_token, {
      from: '2001:db8::7',
      headers: { 'user-agent': 'u'.repeat(300), referer: 'https://chat.example/room?secret=1' },
    })
  }
  const first = await api.audit(push.url_token, ann)
  expect(first).toHaveLength(50)
  expect(first[0]).toEqual({
    ip: '192.0.2.9',
    user_agent: 'tool/1',
    referrer: '',
    kind: 'creation',
    created_at: push.created_at,
    updated_at: push.created_at,
  })
  expect(first[1]).toMatchObject({
    ip: '2001:db8::7',
    user_agent: 'u'.repeat(255),
    referrer: 'https://chat.example/',
    kind: 'view',
  })
  expect(await api.audit(push.url_token, ann, 2)).toHaveLength(6)
  expect(await api.audit(push.url_token, ann, 3)).toEqual([])
})

test('the log keeps the first 500 failures; the page of the push counts the rest and shows the latest', async () => {
  const push = await api.create({ expire_after_views: 1 }, { token: ann })
  const headers = { 'user-agent': 'u'.repeat(9_000), referer: `https://${'x'.repeat(9_000)}.example/` }
  for (let n = 0; n < 504; n += 1) await api.retrieve(push.url_token, { headers, from: `192.0.2.${n % 200}` })
  const entries = []
  for (let page = 1; page <= 11; page += 1) entries.push(...(await api.audit(push.url_token, ann, page)))
  expect(entries.filter(({ kind }) => kind === 'failed_view')).toHaveLength(500)
  expect(
    new Set(entries.slice(1).map(({ user_agent, referrer }) => `${user_agent.length} ${referrer}`)),
  ).toEqual(new Set(['255 ']))
  const { text: html } = await (await createPeople(api).signIn('ann@example.org')).get(
    `/pushes/${push.url_token}`,
  )
  expect(html).toContain('3 failed visits are only counted')
  expect(html).toContain('from 192.0.2.103')
})

test.each(['0', '201', '-1', '1.5', 'x', '1e1', '٣'])('page %p is refused', async (page) => {
  const { url_token } = await api.create({}, { token: ann })
  for (const path of [`${PUSHES}/${url_token}/audit`, `${PUSHES}/active`, `${PUSHES}/expired`]) {
    expect((await api.call(`${path}?page=${encodeURIComponent(page)}`, { token: ann })).status).toBe(400)
  }
})

test.each(['', '1', '200'])('page %p is accepted', async (page) => {
  expect((await api.call(`${PUSHES}/active?page=${page}`, { token: ann })).status).toBe(200)
})

test('a list holds only the account’s own pushes, newest first, fifty per page, with name and note', async () => {
  const made: string[] = []
  for (let i = 0; i < 52; i += 1) {
    made.unshift((await api.create({ name: `n${i}`, note: 'ö' }, { token: ann })).url_token)
  }
  await api.create({}, { token: bob })
  await api.create()
  const pages = [
    await api.list('active', ann),
    await api.list('active', ann, 2),
    await api.list('active', ann, 3),
  ]
  expect(pages.map((page) => page.length)).toEqual([50, 2, 0])
  expect(pages.flat().map(({ url_token }) => url_token)).toEqual(made)
  expect(pages[0]?.[0]).toMatchObject({ name: 'n51', note: 'ö' })
  expect(pages[0]?.[0]).not.toHaveProperty('files')
  expect(pages[0]?.[0]).not.toHaveProperty('payload')
  await api.expire(made[3] ?? '', { token: ann })
  expect((await api.list('expired', ann)).map(({ url_token }) => url_token)).toEqual([made[3] ?? ''])
  expect((await api.list('active', ann)).map(({ url_token }) => url_token)).not.toContain(made[3] ?? '')
})

test('a push past its time moves to the expired list at once', async () => {
  const push = await api.create({ expire_after_days: 1 }, { token: ann })
  api.clock.advance(86_400_000)
  expect(await api.list('active', ann)).toEqual([])
  expect(await api.list('expired', ann)).toMatchObject([
    { url_token: push.url_token, expired: true, expired_on: push.expires_at, deleted: false },
  ])
})

describe('expiring a push', () => {
  runScenarios([
    {
      name: 'is allowed to its owner',
      push: { deletable_by_viewer: false },
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'owner',
      status: 200,
      body: { expired: true, deleted: true },
      audit: ['expire'],
    },
    {
      name: 'is allowed to anyone if viewers may',
      push: { deletable_by_viewer: true },
      ask: 'DELETE /api/v2/pushes/{push}.json',
      status: 200,
      audit: ['expire'],
    },
    {
      name: 'is allowed to another account if viewers may',
      push: { deletable_by_viewer: true },
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'other',
      status: 200,
      audit: ['expire'],
    },
    {
      name: 'asks a visitor for a token if viewers may not',
      push: { deletable_by_viewer: false },
      ask: 'DELETE /api/v2/pushes/{push}',
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
    },
    {
      name: 'is forbidden to another account if viewers may not',
      push: { deletable_by_viewer: false },
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'other',
      status: 403,
    },
    {
      name: 'is forbidden to everyone for an anonymous push that viewers may not delete',
      push: { deletable_by_viewer: false },
      of: 'visitor',
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'owner',
      status: 403,
    },
    {
      name: 'does not change an expired push',
      push: { expire_after_views: 1 },
      before: ({ api: given, push }) => given.retrieve(push.url_token),
      ask: 'DELETE /api/v2/pushes/{push}',
      as: 'owner',
      status: 200,
      body: { expired: true, deleted: false },
    },
    {
      name: 'answers 404 for an unknown push',
      ask: 'DELETE /api/v2/pushes/00000000000000000000000000',
      as: 'owner',
      status: 404,
    },
  ])
})

describe('reading the audit log', () => {
  runScenarios([
    { name: 'requires a token', ask: 'GET /api/v2/pushes/{push}/audit', status: 401 },
    {
      name: 'is forbidden to other accounts',
      ask: 'GET /api/v2/pushes/{push}/audit',
      as: 'other',
      status: 403,
    },
    {
      name: 'is forbidden to everyone for an anonymous push',
      of: 'visitor',
      ask: 'GET /api/v2/pushes/{push}/audit',
      as: 'owner',
      status: 403,
    },
    {
      name: 'checks the permission before the page number',
      ask: 'GET /api/v2/pushes/{push}/audit?page=0',
      as: 'other',
      status: 403,
    },
    {
      name: 'answers 404 for an unknown push',
      ask: 'GET /api/v2/pushes/00000000000000000000000000/audit?page=0',
      as: 'owner',
      status: 404,
    },
  ])
})

test('a list continues after any push of its owner, even beyond the last page', async () => {
  const made: string[] = []
  for (let n = 0; n < 4; n += 1) made.unshift((await api.create({}, { token: ann })).url_token)
  const tokensOf = async (query: string) => {
    const response = await api.fetch(`${PUSHES}/active?${query}`, { token: ann })
    return ((await response.json()) as { url_token: string }[]).map(({ url_token }) => url_token)
  }
  expect(await tokensOf(`before=${made[1]}`)).toEqual(made.slice(2))
  expect(await tokensOf(`before=${made[3]}`)).toEqual([])
  expect(await tokensOf(`before=${made[0]}&page=2`)).toEqual([])
  expect(await tokensOf('before=')).toEqual(made)
})

test('a list does not continue after a push of another owner or an unknown push', async () => {
  const other = await api.create({}, { token: bob })
  for (const before of [other.url_token, '0'.repeat(26), 'x', '../etc']) {
    const response = await api.fetch(`${PUSHES}/active?before=${encodeURIComponent(before)}`, { token: ann })
    expect([response.status, await response.json()]).toEqual([404, { error: 'not-found' }])
  }
})
