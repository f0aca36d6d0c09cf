// Expiry by time on a real database: found by an index, done in small steps.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { DAY } from '../../../../src/domain/time.ts'
import { openTestStore, storePush, type TestStore } from '../../../support/store.ts'

const SECRETS = { salt: Buffer.alloc(16), wrappedKey: Buffer.alloc(62, 1), passphraseSalt: null }

let opened: TestStore

beforeEach(async () => {
  opened = await openTestStore()
})
afterEach(() => opened.close())

test('other requests run while many large pushes expire in the same second', async () => {
  const { store, clock } = opened
  const payload = Buffer.alloc(1024 * 1024, 7)
  for (let n = 0; n < 120; n += 1) await storePush(opened, {}, { secrets: { ...SECRETS, payload } })
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
