// Expiry by time on a real database: found by an index, done in small steps.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY, MINUTE } from '../../../../src/domain/time.ts'
import { openTestStore, storePush, type TestStore, VISIT } from '../../../support/store.ts'

let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
})
afterEach(() => opened.close())

test('the next to run out of time is known, whatever was made or ended meanwhile', async () => {
  const { store, clock } = opened
  const at = (ms: number) => storePush(opened, { expiresAt: clock.now() + ms })
  expect(await store.expiry.findNextLapse()).toBeNull()
  await at(90 * DAY)
  expect(await store.expiry.findNextLapse()).toBe(clock.now() + 90 * DAY)
  const { id, expiresAt } = await at(15 * MINUTE)
  expect(await store.expiry.findNextLapse()).toBe(expiresAt)
  await store.pushes.expirePush({ id, visit: VISIT })
  expect(await store.expiry.findNextLapse()).toBe(clock.now() + 90 * DAY)
  clock.advance(90 * DAY)
  expect(await store.expiry.expireLapsed()).toBe(1)
  expect(await store.expiry.findNextLapse()).toBeNull()
})

test('many large pushes that expire in the same second leave room for others between', async () => {
  const { store, clock } = opened
  const payload = Buffer.alloc(1024 * 1024, 7)
  for (let n = 0; n < 120; n += 1) await storePush(opened, {}, payload)
  clock.advance(DAY)
  const delays: number[] = []
  let last = performance.now()
  const watch = setInterval(() => {
    delays.push(performance.now() - last)
    last = performance.now()
  }, 1)
  const steps: number[] = []
  for (let done = await store.expiry.expireLapsed(); done > 0; done = await store.expiry.expireLapsed())
    steps.push(done)
  clearInterval(watch)
  console.log(`steps ${steps.length}, longest wait ${Math.round(Math.max(...delays))} ms`)
  expect(steps.reduce((sum, done) => sum + done, 0)).toBe(120)
  expect(steps.length).toBeGreaterThan(3)
})
