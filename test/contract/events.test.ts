// The events of an account over the API: only its own, in order, at once or by long polling.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { DAY, MINUTE } from '../../src/domain/time.ts'
import { type Api, startApi } from '../support/api.ts'

const EVENTS = '/api/oncebox/events'

type Page = {
  events: { id: number; type: string; timestamp: string; data: Record<string, unknown> }[]
  next: number
}

let api: Api
let ann: string

beforeEach(async () => {
  api = await startApi({ flags: { 'max-passphrase-attempts': '1' } })
  ann = await api.addAccount('ann@example.org', { isAdmin: true })
})

afterEach(() => api.close())

const ask = (query = '', token = ann, init = {}) => api.call<Page>(`${EVENTS}${query}`, { token, ...init })
const typesAfter = async (after: number) => (await ask(`?after=${after}`)).body.events.map(({ type }) => type)

test('an account gets the events of its own pushes, without their links, contents or names', async () => {
  const bob = await api.addAccount('bob@example.org')
  const push = await api.create(
    { expire_after_views: 2, name: 'for Cleo', note: 'a note', payload: 'pssst' },
    { token: ann },
  )
  await api.retrieve(push.url_token)
  await api.retrieve(push.url_token)
  const { status, headers, text, body } = await ask()
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body.events.map(({ id, type }) => [id, type])).toEqual([
    [1, 'push.opened'],
    [2, 'push.opened'],
    [3, 'push.used_up'],
  ])
  expect(body.next).toBe(3)
  expect(body.events[0]).toEqual({
    ...{ id: 1, type: 'push.opened', timestamp: push.created_at },
    data: {
      push: expect.stringMatching(/^[0-9a-z]{20}$/),
      ...{ kind: 'text', views_remaining: 1, expires_at: push.expires_at, expired: false },
    },
  })
  for (const secret of [push.url_token, 'Cleo', 'a note', 'pssst']) expect(text).not.toContain(secret)
  expect((await ask('?after=0', bob)).body).toEqual({ events: [], next: 0 })
  expect((await ask('?after=2')).body.events.map(({ id }) => id)).toEqual([3])
  expect((await ask('.json?after=3')).body).toEqual({ events: [], next: 3 })
})

test('each way in which a push ends or is locked has its event type', async () => {
  const tried = await api.create({ passphrase: 'x', deletable_by_viewer: false }, { token: ann })
  await api.retrieve(tried.url_token, { headers: { 'x-push-passphrase': 'wrong' } })
  expect(await typesAfter(0)).toEqual(['push.locked'])
  await api.create({ expire_after_days: 2 }, { token: ann })
  api.clock.advance(DAY + MINUTE)
  await api.sweep()
  expect(await typesAfter(1)).toEqual(['push.expires_soon'])
  api.clock.advance(DAY)
  await api.sweep()
  await api.sweep()
  expect(await typesAfter(2)).toEqual(['push.expired_unopened'])
  const deleted = await api.create({}, { token: ann })
  await api.expire(deleted.url_token)
  expect(await typesAfter(3)).toEqual([])
})

describe('a try on a push that has ended', () => {
  const tried = async () => (await typesAfter(0)).filter((type) => type === 'push.tried_after_end').length

  test.each(['used up', 'deleted', 'out of time'])('(%s) is reported once an hour', async (end) => {
    const { url_token } = await api.create({ expire_after_views: 1, expire_after_days: 1 }, { token: ann })
    if (end === 'used up') await api.retrieve(url_token)
    if (end === 'deleted') await api.expire(url_token, { token: ann })
    if (end === 'out of time') api.clock.advance(DAY + MINUTE)
    for (let n = 0; n < 3; n += 1) await api.retrieve(url_token)
    expect(await tried()).toBe(1)
    const { events } = (await ask()).body
    expect(events.at(-1)?.data).toMatchObject({ kind: 'text', expired: true })
    api.clock.advance(59 * MINUTE)
    await api.retrieve(url_token)
    expect(await tried()).toBe(1)
    api.clock.advance(MINUTE)
    await Promise.all([1, 2, 3].map(() => api.retrieve(url_token)))
    expect(await tried()).toBe(2)
  })

  test('is reported for another push, and with a passphrase', async () => {
    for (const passphrase of [undefined, 'open sesame']) {
      const { url_token } = await api.create({ ...(passphrase && { passphrase }) }, { token: ann })
      await api.expire(url_token, { token: ann })
      await api.retrieve(url_token, { headers: { 'x-push-passphrase': 'wrong' } })
    }
    expect(await tried()).toBe(2)
  })

  test('is reported if the button of a page is pressed, and not if the page is only viewed', async () => {
    const { url_token } = await api.create({ expire_after_views: 1 }, { token: ann })
    const page = await (await api.fetch(`/p/${url_token}`)).text()
    await api.retrieve(url_token)
    for (const path of ['', '/r', '/preview']) await api.fetch(`/p/${url_token}${path}`)
    await api.call(`/api/v2/pushes/${url_token}/preview`)
    await api.fetch(`/api/v2/pushes/${url_token}`, { method: 'HEAD' })
    expect(await tried()).toBe(0)
    const nonce = /name="nonce" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams({ nonce, form: '' }).toString()
    expect((await api.fetch(`/p/${url_token}`, { method: 'POST', headers, body })).status).toBe(404)
    expect(await tried()).toBe(1)
  })

  test('by its owner is not reported, and neither is one on a push without an owner', async () => {
    const owned = await api.create({ expire_after_views: 1 }, { token: ann })
    const anonymous = await api.create({ expire_after_views: 1 })
    for (const { url_token } of [owned, anonymous])
      for (let n = 0; n < 2; n += 1) await api.retrieve(url_token, { token: ann })
    expect(await tried()).toBe(0)
    await api.retrieve(owned.url_token, { token: await api.addAccount('bob@example.org') })
    expect(await tried()).toBe(1)
  })
})

test('only an account may poll, and only with numbers', async () => {
  expect((await api.call(EVENTS)).status).toBe(401)
  expect((await ask('', 'obx_0000000000000000000000000000000')).status).toBe(401)
  for (const query of [
    'after=-1',
    'after=x',
    'after=1.5',
    'after=9007199254740993',
    'wait=26',
    'wait=-1',
    'wait=x',
  ])
    expect([query, (await ask(`?${query}`)).status]).toEqual([query, 400])
  for (const query of ['', 'after=', 'after=&wait=', 'wait=0', 'unknown=1'])
    expect([query, (await ask(`?${query}`)).status]).toEqual([query, 200])
  const { status, headers } = await ask('', ann, { method: 'POST' })
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
})

async function open() {
  const { url_token } = await api.create({}, { token: ann })
  return () => api.retrieve(url_token)
}

test('a wait ends with the next event of the account, and not with those of others', async () => {
  const retrieve = await open()
  let isOver = false
  const waiting = ask('?wait=25').finally(() => {
    isOver = true
  })
  const anonymous = await api.create()
  await api.retrieve(anonymous.url_token)
  await Bun.sleep(100)
  expect(isOver).toBe(false)
  await retrieve()
  expect((await waiting).body).toMatchObject({ events: [{ id: 1, type: 'push.opened' }], next: 1 })
})

test('a wait without an event times out with an empty list', async () => {
  expect((await ask('?wait=1')).body).toEqual({ events: [], next: 0 })
})

test('an account may have three concurrent waits, regardless of other accounts', async () => {
  const retrieve = await open()
  const bob = await api.addAccount('bob@example.org')
  const waits = [1, 2, 3].map(() => ask('?wait=25'))
  const refused = await ask('?wait=25')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await ask('', bob)).status).toBe(200)
  await retrieve()
  for (const { status, body } of await Promise.all(waits)) expect([status, body.next]).toEqual([200, 1])
  expect((await ask()).status).toBe(200)
})

test('a client that disconnects makes room for another', async () => {
  const gone = new AbortController()
  const waits = [1, 2, 3].map(() => ask('?wait=25', ann, { signal: gone.signal }))
  expect((await ask()).status).toBe(429)
  gone.abort()
  await Promise.all(waits)
  expect((await ask()).status).toBe(200)
})

test('a wait ends when its token is revoked; other waits of the account continue', async () => {
  const { apiToken } = await api.apiTokens().createApiToken({ email: 'ann@example.org', name: 'other' })
  const retrieve = await open()
  const other = ask('?wait=25', apiToken)
  const waiting = ask('?wait=25')
  await api.apiTokens().revokeApiToken({ email: 'ann@example.org', nameOrPrefix: 'token-1' })
  const { status, headers } = await waiting
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  await retrieve()
  expect((await other).body.events).toHaveLength(1)
})

test('a wait ends when the account is disabled', async () => {
  const bob = await api.addAccount('bob@example.org')
  const waiting = ask('?wait=25', bob)
  await api.accounts().disableAccount('bob@example.org')
  expect((await waiting).status).toBe(401)
})

test('a wait ends when the server stops, and events continue after the restart', async () => {
  const retrieve = await open()
  await retrieve()
  const waiting = ask('?after=1&wait=25')
  await Bun.sleep(50)
  await api.restart()
  expect((await waiting).body).toEqual({ events: [], next: 1 })
  expect((await ask('?after=0')).body).toMatchObject({ events: [{ id: 1 }], next: 1 })
  await retrieve()
  expect((await ask('?after=1&wait=25')).body).toMatchObject({ events: [{ id: 2 }], next: 2 })
})

test('events are purged after 7 days; a cursor before the oldest, or one that never existed, is refused', async () => {
  const retrieve = await open()
  await retrieve()
  await retrieve()
  api.clock.advance(7 * DAY - MINUTE)
  const late = await open()
  await late()
  api.clock.advance(2 * MINUTE)
  await api.sweep()
  const before = await ask('?after=1')
  expect([before.status, before.text]).toEqual([410, expect.stringContaining('not kept any more')])
  const never = await ask('?after=4')
  expect([never.status, never.text]).toEqual([410, expect.stringContaining('ever given')])
  expect((await ask('?after=0&wait=25')).body).toMatchObject({ events: [{ id: 3 }], next: 3 })
  expect((await ask()).body).toMatchObject({ events: [{ id: 3 }], next: 3 })
  expect((await ask('?after=2')).body).toMatchObject({ events: [{ id: 3 }] })
  api.clock.advance(8 * DAY)
  await api.sweep()
  expect((await ask('?after=2')).status).toBe(410)
  for (const query of ['', '?after=0', '?after=3'])
    expect((await ask(query)).body).toEqual({ events: [], next: 3 })
})

test('a long list is paged', async () => {
  const { url_token } = await api.create({ expire_after_views: 100 }, { token: ann })
  const more = await Promise.all(
    [1, 2, 3, 4, 5].map(() => api.create({ expire_after_views: 100 }, { token: ann })),
  )
  for (const token of [url_token, ...more.map((push) => push.url_token)])
    await Promise.all(Array.from({ length: 99 }, () => api.retrieve(token)))
  const first = (await ask()).body
  expect([first.events.length, first.next]).toEqual([500, 500])
  const second = (await ask(`?after=${first.next}`)).body
  expect([second.events.length, second.next]).toEqual([94, 594])
})
