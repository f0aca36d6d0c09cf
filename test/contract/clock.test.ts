// A clock that jumps: forward by years everything ends at its time; back, nothing comes back.

import { expect, test } from 'bun:test'
import { startApi } from '../support/api.ts'

const DAY = 24 * 60 * 60 * 1000

test('forward by years, everything has expired and is purged; it goes on with new pushes', async () => {
  const api = await startApi()
  const token = await api.addAccount('ann@example.org')
  const anonymous = await api.create()
  const owned = await api.create({ name: 'mine' }, { token })
  api.clock.advance(20 * 365 * DAY)
  expect((await api.retrieve(owned.url_token)).body.expired).toBe(true)
  await api.sweep()
  expect((await api.retrieve(anonymous.url_token)).status).toBe(404)
  const fresh = await api.create({}, { token })
  expect(fresh.created_at).toStartWith('2046-')
  expect((await api.retrieve(fresh.url_token)).body.payload).toBe('correct horse')
  await api.close()
})

test('back by years while it runs, time stands still, and limits in views hold', async () => {
  const api = await startApi()
  const before = api.clock.now()
  const short = await api.create({ expire_after_duration: 0 })
  api.clock.advance(16 * 60 * 1000)
  expect((await api.retrieve(short.url_token)).body.expired).toBe(true)
  api.clock.set(before - 10 * 365 * DAY)
  expect((await api.retrieve(short.url_token)).body.payload).toBeNull()
  const once = await api.create({ expire_after_views: 1 })
  expect(Date.parse(once.created_at)).toBeGreaterThanOrEqual(before)
  expect((await api.retrieve(once.url_token)).body.payload).toBe('correct horse')
  expect((await api.retrieve(once.url_token)).body.payload).toBeNull()
  await api.close()
})
