import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Api, PUSHES, startApi } from '../support/api.ts'
import { CREATED, LISTED, PUSH, RETRIEVED } from './members.ts'

const DAY = 24 * 60 * 60 * 1000

let api: Api
let owner: string

beforeAll(async () => {
  api = await startApi()
  owner = await api.addAccount('owner@example.org')
})

afterAll(() => api.close())

const names = (body: object | undefined) => Object.keys(body ?? {}).sort()
const sorted = (members: readonly string[]) => [...members].sort()

describe('the members', () => {
  test('of the responses to create, retrieve, list and delete are exact', async () => {
    const labels = { name: 'router', note: 'in the attic' }
    const created = await api.create({ expire_after_views: 3, ...labels }, { token: owner })
    expect(names(created)).toEqual(sorted(CREATED))
    expect(names((await api.list('active', owner))[0])).toEqual(sorted(LISTED))
    const retrieved = (await api.retrieve(created.url_token, { token: owner })).body
    expect(names(retrieved)).toEqual(sorted(RETRIEVED))
    const deleted = (await api.expire(created.url_token, { token: owner })).body
    expect(names(deleted)).toEqual(sorted([...PUSH, 'files']))
    expect(names((await api.list('expired', owner))[0])).toEqual(sorted(LISTED))
    const expired = (await api.retrieve(created.url_token)).body
    expect(names(expired)).toEqual(sorted(RETRIEVED))
  })

  test('of a retrieve are exact, with their values, until the push is expired', async () => {
    const created = await api.create({ expire_after_views: 2 })
    const { name: _, note: __, ...push } = created
    api.clock.advance(1000)
    const first = (await api.retrieve(created.url_token)).body
    const updated_at = '2026-11-20T12:00:01.000Z'
    expect(first).toEqual({ ...push, updated_at, views_remaining: 1, payload: 'correct horse' })
    const last = (await api.retrieve(created.url_token)).body
    expect(last).toEqual({ ...first, views_remaining: 0 })
    expect([last.expired, last.expired_on]).toEqual([false, null])
    const expired = (await api.retrieve(created.url_token)).body
    expect(expired).toEqual({ ...last, expired: true, expired_on: updated_at, payload: null })
  })

  test('of a preview are the link, whether it has expired, and whether it needs a passphrase', async () => {
    const { url_token, html_url } = await api.create({ expire_after_views: 1 })
    const path = `${PUSHES}/${url_token}/preview`
    expect((await api.call(path)).body).toEqual({ url: html_url, expired: false, passphrase_required: false })
    await api.retrieve(url_token)
    expect((await api.call(path)).body).toEqual({ url: html_url, expired: true, passphrase_required: false })
    const secured = await api.create({ passphrase: 'open sesame' })
    const told = (await api.call(`${PUSHES}/${secured.url_token}/preview`)).body
    expect(told).toEqual({ url: secured.html_url, expired: false, passphrase_required: true })
  })
})

describe('links', () => {
  test('of a push with a retrieval step lead to a page that asks first', async () => {
    const push = await api.create({ retrieval_step: true })
    expect(push.html_url).toBe(`http://localhost/p/${push.url_token}/r`)
    expect(push.json_url).toBe(`http://localhost/p/${push.url_token}.json`)
    expect((await api.call(`${PUSHES}/${push.url_token}/preview`)).body.url).toBe(push.html_url)
  })

  test('of other pushes lead to the push itself', async () => {
    const push = await api.create({ retrieval_step: false })
    expect(push.html_url).toBe(`http://localhost/p/${push.url_token}`)
    expect(push.json_url).toBe(`http://localhost/p/${push.url_token}.json`)
    expect((await api.call(`${PUSHES}/${push.url_token}/preview`)).body.url).toBe(push.html_url)
  })
})

test('a URL token has 26 characters of Crockford’s base32; all characters occur, and no token twice', async () => {
  const tokens = await Promise.all(Array.from({ length: 200 }, async () => (await api.create()).url_token))
  for (const urlToken of tokens) expect(urlToken).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/)
  expect(new Set(tokens).size).toBe(200)
  expect(new Set(tokens.join('')).size).toBe(32)
})

describe('deletable_by_viewer', () => {
  test.each([
    ['text', undefined, true],
    ['qr', undefined, true],
    ['url', undefined, null],
    ['url', null, null],
    ['url', '', null],
    ['url', true, true],
    ['url', 'no', false],
    ['text', false, false],
  ])('of a push of kind %s given %p is %p in every response', async (kind, given, value) => {
    const wanted = { kind, payload: 'https://example.org/', deletable_by_viewer: given }
    const created = await api.create(wanted, { token: owner })
    expect(created.deletable_by_viewer).toBe(value)
    expect((await api.retrieve(created.url_token)).body.deletable_by_viewer).toBe(value)
    expect((await api.list('active', owner))[0]?.deletable_by_viewer).toBe(value)
  })

  test('and retrieval_step default to the settings of the instance', async () => {
    const flags = { 'deletable-by-viewer-default': 'false', 'retrieval-step-default': 'false' }
    const other = await startApi({ flags })
    try {
      const push = await other.create()
      expect([push.deletable_by_viewer, push.retrieval_step]).toEqual([false, false])
      const url = await other.create({ kind: 'url', payload: 'https://example.org/' })
      expect([url.deletable_by_viewer, url.retrieval_step]).toEqual([null, false])
    } finally {
      await other.close()
    }
  })
})

test('a passphrase is never returned, only passphrase_required', async () => {
  const wanted = { passphrase: 'sesame', expire_after_views: 1 }
  const { url_token } = await api.create(wanted, { token: owner })
  const told = { passphrase: null, passphrase_required: true }
  expect((await api.list('active', owner))[0]).toMatchObject(told)
  expect((await api.retrieve(`${url_token}?passphrase=sesame`)).body).toMatchObject(told)
  expect((await api.retrieve(url_token)).body).toMatchObject({ ...told, expired: true })
})

test('days_remaining decreases with each whole day, and never below 0', async () => {
  const { url_token, created_at } = await api.create({ expire_after_days: 3, expire_after_views: 100 })
  const created = Date.parse(created_at)
  const daysAfter = async (elapsed: number) => {
    api.clock.set(created + elapsed)
    return (await api.retrieve(url_token)).body.days_remaining
  }
  expect(await daysAfter(0)).toBe(3)
  expect(await daysAfter(DAY - 1)).toBe(3)
  expect(await daysAfter(DAY)).toBe(2)
  expect(await daysAfter(3 * DAY - 1)).toBe(1)
  expect(await daysAfter(3 * DAY)).toBe(0)
  expect(await daysAfter(9 * DAY)).toBe(0)
})
