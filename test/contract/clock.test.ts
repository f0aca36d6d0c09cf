// A clock that jumps: ahead, nothing is destroyed until an administrator confirms the clock; back, nothing is
// revived.

import { afterEach, expect, test } from 'bun:test'
import { startApi } from '../support/api.ts'
import { startInstance } from '../support/instance.ts'

const MINUTE = 60 * 1000
const DAY = 24 * 60 * MINUTE

type Api = Awaited<ReturnType<typeof startApi>>
const running: Api[] = []
afterEach(async () => {
  for (const api of running.splice(0)) await api.close()
})

async function start(options: Parameters<typeof startApi>[0] = {}): Promise<Api> {
  const api = await startApi(options)
  running.push(api)
  return api
}

const jump = (api: Api, ms: number) => api.clock.set(api.clock.now() + ms)

test('while the clock is 100 days ahead pushes answer as expired, and can be opened again once it is corrected', async () => {
  const api = await start()
  const token = await api.addAccount('ann@example.org')
  const anonymous = await api.create()
  const owned = await api.create({ name: 'mine' }, { token })
  const guarded = await api.create({ passphrase: 'open sesame' })
  jump(api, 100 * DAY)
  for (const push of [anonymous, owned]) {
    const { status, body } = await api.retrieve(push.url_token)
    expect([status, body.expired, body.payload, body.deleted]).toEqual([200, true, null, false])
  }
  const wrong = await api.retrieve(`${guarded.url_token}?passphrase=wrong`)
  expect([wrong.status, wrong.body.expired]).toEqual([200, true])
  await api.sweep()
  expect(await api.list('active', token)).toEqual([])
  expect(await api.list('expired', token)).toMatchObject([{ url_token: owned.url_token, expired: true }])
  await api.sweep()
  jump(api, -100 * DAY)
  for (const push of [anonymous, owned])
    expect((await api.retrieve(push.url_token)).body.payload).toBe('correct horse')
  const open = await api.retrieve(`${guarded.url_token}?passphrase=open%20sesame`)
  expect(open.body.payload).toBe('correct horse')
  expect(await api.list('active', token)).toMatchObject([{ url_token: owned.url_token }])
})

test('when an administrator confirms the clock, pushes that have expired by it are destroyed', async () => {
  const api = await start()
  const anonymous = await api.create()
  jump(api, 100 * DAY)
  expect((await api.retrieve(anonymous.url_token)).body.expired).toBe(true)
  await api.acceptClock()
  // The first call may join the sweep of the start, which began before the clock was accepted.
  await api.sweep()
  await api.sweep()
  expect((await api.retrieve(anonymous.url_token)).status).toBe(404)
  jump(api, -100 * DAY)
  expect((await api.retrieve(anonymous.url_token)).status).toBe(404)
  const fresh = await api.create()
  expect((await api.retrieve(fresh.url_token)).body.payload).toBe('correct horse')
})

test('while the clock is in doubt, pushes can still be created and opened, and expire by views and on request', async () => {
  const api = await start()
  const before = await api.create({ deletable_by_viewer: true })
  jump(api, 100 * DAY)
  const fresh = await api.create({ expire_after_views: 1 })
  expect((await api.retrieve(fresh.url_token)).body.payload).toBe('correct horse')
  expect((await api.retrieve(fresh.url_token)).body.expired).toBe(true)
  const deleted = await api.call(`/api/v2/pushes/${before.url_token}`, { method: 'DELETE' })
  // It has already expired by its time, so it is not marked as deleted; but its deletion was requested, so it
  // is destroyed.
  expect(deleted.body).toMatchObject({ expired: true, deleted: false })
  jump(api, -100 * DAY)
  expect((await api.retrieve(before.url_token)).body).toMatchObject({ payload: null, expired: true })
})

test('after a jump of less than a day, and on a machine that slept, pushes expire as usual', async () => {
  const api = await start()
  const short = await api.create({ expire_after_duration: 0 })
  const long = await api.create({ expire_after_days: 7 })
  jump(api, 16 * MINUTE)
  await api.sweep()
  jump(api, -16 * MINUTE)
  expect((await api.retrieve(short.url_token)).body.expired).toBe(true)
  api.clock.advance(20 * DAY)
  await api.sweep()
  expect((await api.retrieve(long.url_token)).status).toBe(404)
})

test('a start long after the last use puts the clock in doubt until --accept-clock confirms it', async () => {
  const first = await startInstance()
  const { dataDir, clock } = first
  const created = await first.fetch('/api/v2/pushes', { json: { push: { payload: 'kept' } } })
  const { url_token } = (await created.json()) as { url_token: string }
  await first.stop()
  const bodyOf = async (api: typeof first) => (await api.fetch(`/api/v2/pushes/${url_token}`)).json()
  clock.advance(8 * DAY)
  const second = await startInstance({ dataDir, clock })
  expect(second.log.filter((line) => line.includes('--accept-clock'))).toHaveLength(1)
  expect(await bodyOf(second)).toMatchObject({ expired: true, payload: null })
  const ready = await second.fetch('/readyz', { from: '127.0.0.1' })
  expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining('confirm it in /admin')])
  await second.sweep()
  await second.stop()
  clock.advance(MINUTE)
  const third = await startInstance({ dataDir, clock })
  expect(await bodyOf(third)).toMatchObject({ expired: true })
  await third.sweep()
  await third.stop()
  const accepted = await startInstance({ dataDir, clock, flags: { 'accept-clock': 'true' } })
  await accepted.sweep()
  expect((await accepted.fetch(`/api/v2/pushes/${url_token}`)).status).toBe(404)
  await accepted.close()
})

test('--max-clock-gap allows a longer pause', async () => {
  const first = await startInstance()
  const { dataDir, clock } = first
  await first.stop()
  clock.advance(20 * DAY)
  const second = await startInstance({ dataDir, clock, flags: { 'max-clock-gap': '30d' } })
  expect(second.log.join()).not.toContain('--accept-clock')
  await second.close()
})

test('a server that is idle for weeks does not doubt its clock', async () => {
  const first = await startInstance()
  const { dataDir, clock } = first
  clock.advance(20 * DAY)
  await first.stop()
  const second = await startInstance({ dataDir, clock })
  expect(second.log.join()).not.toContain('--accept-clock')
  await second.close()
})

test('when the clock jumps back by years, the app’s time stands still, and limits on views apply', async () => {
  const api = await start()
  const before = api.clock.now()
  const short = await api.create({ expire_after_duration: 0 })
  api.clock.advance(16 * MINUTE)
  expect((await api.retrieve(short.url_token)).body.expired).toBe(true)
  api.clock.set(before - 10 * 365 * DAY)
  expect((await api.retrieve(short.url_token)).body.payload).toBeNull()
  const once = await api.create({ expire_after_views: 1 })
  expect(Date.parse(once.created_at)).toBeGreaterThanOrEqual(before)
  expect((await api.retrieve(once.url_token)).body.payload).toBe('correct horse')
  expect((await api.retrieve(once.url_token)).body.payload).toBeNull()
})

test('five wrong passphrases under a doubtful clock lock a push for a minute, not until the clock catches up', async () => {
  const api = await start()
  jump(api, 100 * DAY)
  const { url_token } = await api.create({ passphrase: 'open sesame' })
  const open = (passphrase: string) =>
    api.retrieve(`${url_token}?passphrase=${encodeURIComponent(passphrase)}`)
  for (let n = 0; n < 5; n += 1) await open('wrong')
  expect((await open('open sesame')).status).toBe(429)
  jump(api, -100 * DAY)
  expect((await open('open sesame')).body.payload).toBe('correct horse')
})

test('a push created under a doubtful clock expires no later after the clock is corrected; with a confirmed clock it keeps its dates', async () => {
  const api = await start()
  const token = await api.addAccount('ann@example.org')
  jump(api, 100 * DAY)
  const early = await api.create({ expire_after_days: 7 }, { token })
  const short = await api.create({ expire_after_duration: 0 })
  api.clock.advance(20 * MINUTE)
  expect((await api.retrieve(short.url_token)).body.expired).toBe(true)
  const late = await api.create({ expire_after_days: 1 })
  jump(api, -100 * DAY)
  const now = api.clock.now()
  await api.list('active', token)
  await api.sweep()
  const { body } = await api.retrieve(early.url_token)
  expect(body).toMatchObject({ expired: false, payload: 'correct horse', days_remaining: 7 })
  expect(Date.parse(body.expires_at)).toBeLessThanOrEqual(now + 7 * DAY)
  expect((await api.retrieve(short.url_token)).body).toMatchObject({ expired: true, payload: null })
  expect(Date.parse((await api.retrieve(late.url_token)).body.expires_at)).toBeLessThanOrEqual(now + DAY)
  jump(api, 100 * DAY)
  const kept = await api.create({ expire_after_days: 7 })
  await api.acceptClock()
  await api.sweep()
  expect((await api.retrieve(kept.url_token)).body).toMatchObject({
    expired: false,
    expires_at: kept.expires_at,
  })
})

test('a push created under a doubtful clock expires no later if the clock is corrected before the next start', async () => {
  const first = await startInstance()
  const { dataDir, clock } = first
  clock.set(clock.now() + 100 * DAY)
  const created = await first.fetch('/api/v2/pushes', { json: { push: { payload: 'kept' } } })
  const { url_token } = (await created.json()) as { url_token: string }
  await first.stop()
  clock.set(clock.now() - 100 * DAY)
  const second = await startInstance({ dataDir, clock })
  await second.sweep()
  const found = await (await second.fetch(`/api/v2/pushes/${url_token}`)).json()
  expect(found).toMatchObject({ expired: false, payload: 'kept' })
  expect(Date.parse((found as { expires_at: string }).expires_at)).toBeLessThanOrEqual(clock.now() + 7 * DAY)
  await second.close()
})

test('a download granted under a doubtful clock is over once the clock is corrected', async () => {
  const api = await start()
  const token = await api.addAccount('ann@example.org')
  jump(api, 100 * DAY)
  const files = [
    { filename: 'a.txt', data: 'eA==' },
    { filename: 'b.txt', data: 'eQ==' },
  ]
  const { url_token } = await api.create({ files }, { token })
  const [file] = (await api.retrieve(url_token)).body.files as { url: string }[]
  const path = new URL(file?.url ?? '').pathname
  expect((await api.call(path)).status).toBe(200)
  jump(api, -100 * DAY)
  expect((await api.call(path)).status).toBe(403)
})
