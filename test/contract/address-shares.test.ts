// The limits on what one address may hold at a time without an account.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Api, startApi } from '../support/api.ts'
import type { Init } from '../support/instance.ts'

const DAY = 86_400_000

let api: Api
afterEach(() => api.close())

const start = async (flags: Record<string, string>) => {
  api = await startApi({ flags })
}
const statusOf = async (init: Init = {}, push = {}) =>
  (await api.post({ payload: 'correct horse', ...push }, init)).status

type Sum = { pushes: number; bytes: number }

function sums(): { kept: Sum[]; counted: Sum[] } {
  const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
  try {
    const kept = database.query<Sum, []>('SELECT pushes, bytes FROM address_shares ORDER BY address').all()
    const counted = database
      .query<Sum, []>(
        'SELECT count(*) AS pushes, sum(bytes) AS bytes FROM live_shares GROUP BY address ORDER BY address',
      )
      .all()
    return { kept, counted }
  } finally {
    database.close()
  }
}

const total = (some: Sum[]) => some.reduce((all, { pushes }) => all + pushes, 0)

describe('live pushes of one address', () => {
  test('are refused beyond the limit, naming its flag and when there is room again', async () => {
    await start({ 'max-live-pushes-per-address': '2' })
    const first = await api.create({ expire_after_days: 3 })
    await api.create({ expire_after_days: 5 })
    const { status, headers, body } = await api.post({ payload: 'one more' })
    expect([status, headers.get('retry-after')]).toEqual([429, '60'])
    const error = String((body as unknown as { error: string }).error)
    expect(error).toContain('2 live pushes')
    expect(error).toContain('--max-live-pushes-per-address')
    expect(error).toContain(first.expires_at)
    expect((await api.call('/p.json', { json: { password: { payload: 'v1' } } })).status).toBe(429)
  })

  test('are counted for an IPv4 address or a /64, but not for loopback and not for accounts', async () => {
    await start({ 'max-live-pushes-per-address': '1' })
    const token = await api.addAccount('ann@example.org')
    expect(await statusOf()).toBe(201)
    expect(await statusOf()).toBe(429)
    expect(await statusOf({ token })).toBe(201)
    expect(await statusOf({ from: '192.0.2.2' })).toBe(201)
    expect(await statusOf({ from: '::ffff:192.0.2.2' })).toBe(429)
    expect(await statusOf({ from: '2001:db8::1' })).toBe(201)
    expect(await statusOf({ from: '2001:db8::2:3' })).toBe(429)
    expect(await statusOf({ from: '2001:db8:0:1::1' })).toBe(201)
    // Unique local addresses count one by one, because on a local network all clients share a /64.
    expect(await statusOf({ from: 'fd00::1' })).toBe(201)
    expect(await statusOf({ from: 'fd00::2' })).toBe(201)
    expect(await statusOf({ from: 'fd00::2' })).toBe(429)
    for (const from of ['127.0.0.1', '127.0.0.1', '::1', '::1', '127.8.9.1']) {
      expect(await statusOf({ from })).toBe(201)
    }
  })

  test('never exceed the limit, even when many are created at once', async () => {
    await start({ 'max-live-pushes-per-address': '7' })
    const statuses = await Promise.all(Array.from({ length: 40 }, () => statusOf()))
    expect(statuses.filter((status) => status === 201)).toHaveLength(7)
    expect(statuses.filter((status) => status === 429)).toHaveLength(33)
    expect(sums().kept).toMatchObject([{ pushes: 7 }])
  })

  test('make room however they end, and after a restart', async () => {
    await start({ 'max-live-pushes-per-address': '1', 'max-passphrase-attempts': '1' })
    const viewed = await api.create({ expire_after_views: 1 })
    await api.restart()
    expect(await statusOf()).toBe(429)
    await api.retrieve(viewed.url_token)
    const deleted = await api.create()
    await api.expire(deleted.url_token)
    const guessed = await api.create({ passphrase: 'sesame' })
    await api.retrieve(guessed.url_token, { headers: { 'x-push-passphrase': 'wrong' } })
    await api.create({ expire_after_days: 1 })
    expect(await statusOf()).toBe(429)
    api.clock.advance(DAY)
    // The expiry counts even before the sweeper has recorded it.
    const swept = await api.create({ expire_after_days: 1 })
    api.clock.advance(DAY)
    await api.sweep()
    expect(sums()).toEqual({ kept: [], counted: [] })
    api.clock.advance(2 * DAY)
    await api.sweep()
    expect((await api.retrieve(swept.url_token)).status).toBe(404)
    expect(await statusOf()).toBe(201)
  })

  test('are without a limit at 0', async () => {
    await start({ 'max-live-pushes-per-address': '0', 'max-live-bytes-per-address': '0' })
    for (let made = 0; made < 5; made += 1) expect(await statusOf()).toBe(201)
    expect(sums().counted).toEqual([])
  })

  test('are explained on the page, which keeps all that was typed', async () => {
    await start({ 'max-live-pushes-per-address': '1' })
    await api.create()
    const body = new FormData()
    body.set('push[payload]', 'typed before')
    body.set('push[kind]', 'text')
    body.set('push[expire_after]', '1')
    for (const [language, words] of Object.entries({
      en: '1 active secret',
      de: 'Ohne Konto',
      ja: 'アカウントなし',
    })) {
      const answer = await api.fetch(`/?locale=${language}`, {
        method: 'POST',
        body,
        headers: { origin: 'http://localhost' },
      })
      const text = await answer.text()
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '60'])
      expect(text).toContain('typed before')
      expect(text).toContain(words)
    }
  })
})

describe('bytes of one address', () => {
  test('count the sealed payloads and seven log entries per push; the refusal says when there will be room', async () => {
    await start({ 'max-live-bytes-per-address': '310000' })
    await api.create({ payload: 'x'.repeat(40_000), expire_after_days: 1 })
    const second = await api.create({ payload: 'x'.repeat(100_000), expire_after_days: 2 })
    await api.create({ payload: 'x'.repeat(100_000), expire_after_days: 3 })
    const { status, body } = await api.post({ payload: 'x'.repeat(100_000) })
    const error = String((body as unknown as { error: string }).error)
    expect(status).toBe(429)
    expect(error).toContain('310000 bytes')
    expect(error).toContain('--max-live-bytes-per-address')
    expect(error).toContain(second.expires_at)
    expect(await statusOf({}, { payload: 'x'.repeat(30_000) })).toBe(201)
    await api.expire(second.url_token)
    expect(await statusOf({}, { payload: 'x'.repeat(100_000) })).toBe(201)
  })

  test('include the audit log of a push: an entry for each view', async () => {
    await start({ 'max-live-bytes-per-address': '100KiB' })
    expect(await statusOf({}, { expire_after_views: 100 })).toBe(429)
    expect(await statusOf({}, { expire_after_views: 90 })).toBe(201)
    expect(await statusOf({}, { expire_after_views: 10 })).toBe(429)
    expect(await statusOf({}, { expire_after_views: 1 })).toBe(201)
  })

  test('of a push that can never fit are refused with that reason', async () => {
    await start({ 'max-live-bytes-per-address': '100' })
    const { status, headers, body } = await api.post({ payload: 'x'.repeat(200) })
    expect([status, headers.get('retry-after')]).toEqual([429, '60'])
    expect(String((body as unknown as { error: string }).error)).toContain('this one alone has more')
  })
})

describe('the counts', () => {
  test('equal the rows after any mix of creates, views and expiries', async () => {
    await start({ 'max-live-pushes-per-address': '30' })
    const hosts = ['192.0.2.1', '192.0.2.2', '2001:db8::1']
    const made: string[] = []
    for (let n = 0; n < 120; n += 1) {
      const from = hosts[n % 3] ?? ''
      const { status, body } = await api.post({ payload: `number ${n}`, expire_after_views: 2 }, { from })
      if (status === 201) made.push(body.url_token)
      const some = made[(n * 7) % made.length] ?? ''
      if (n % 2 === 0) await api.retrieve(some)
      if (n % 5 === 0) await api.expire(some)
      if (n === 60) await api.restart()
    }
    const { kept, counted } = sums()
    expect(kept).toEqual(counted)
    expect(total(kept)).toBeGreaterThan(10)
  })

  test('contain no plain address, except in the audit log', async () => {
    await start({})
    await api.create({}, { from: '192.0.2.123' })
    const database = new Database(join(api.dataDir, 'oncebox.db'), { readonly: true })
    try {
      const [row] = database.query<{ address: Uint8Array }, []>('SELECT address FROM live_shares').all()
      expect(row?.address).toHaveLength(16)
      const [share] = database.query<{ address: Uint8Array }, []>('SELECT address FROM address_shares').all()
      expect(share?.address).toEqual(row?.address)
      const plain = new Bun.CryptoHasher('sha256').update('192.0.2.123').digest()
      expect(Buffer.from(row?.address ?? []).equals(plain.subarray(0, 16))).toBe(false)
    } finally {
      database.close()
    }
  })
})

describe('answers to requests', () => {
  const ask = async (token: string) => {
    const { body } = await api.call('/api/oncebox/requests', { token, json: { request: { max_answers: 9 } } })
    return `/api/oncebox/requests/${body.url_token}/answers`
  }

  test('count as pushes of the sender’s address until they end', async () => {
    await start({ 'max-live-pushes-per-address': '2' })
    const token = await api.addAccount('ann@example.org')
    const answers = await ask(token)
    const send = (init: Init = {}) => api.call(answers, { json: { push: { payload: 'x' } }, ...init })
    await api.create()
    expect((await send()).status).toBe(201)
    const refused = await send()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect((await send({ from: '198.51.100.7' })).status).toBe(201)
    expect((await send({ token })).status).toBe(201)
    expect(total(sums().kept)).toBe(3)
    for (const { url_token } of await api.list('active', token)) await api.expire(url_token, { token })
    expect(sums().kept).toEqual(sums().counted)
    expect((await send()).status).toBe(201)
  })

  test('are refused before a file is read', async () => {
    await start({ 'max-live-pushes-per-address': '1' })
    const answers = await ask(await api.addAccount('ann@example.org'))
    await api.create()
    let pulled = 0
    const head = '--x\r\nContent-Disposition: form-data; name="push[files][]"; filename="a"\r\n\r\n'
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from(`${head}abc`)),
      pull: () => {
        pulled += 1
        return new Promise(() => undefined)
      },
    })
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    expect((await api.call(answers, { body, headers })).status).toBe(429)
    expect(pulled).toBeLessThan(3)
  })
})
