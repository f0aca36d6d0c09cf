// When to check for expiry by time: at its moment, whatever the clock does, but not all the time.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { createExpiryJob } from '../../src/operating/sweep-schedule.ts'
import { createTestClock } from '../support/instance.ts'
import { pass } from '../support/timers.ts'

/** Starts the expiry job. `due`: when the next push expires, which a test may change; null for none. */
function startWith({ due }: { due: number | null }, failures = 0) {
  const clock = createTestClock(0)
  const started = performance.now()
  const now = () => clock.now() + Math.floor(performance.now() - started)
  const state = { due, looks: 0, ended: [] as number[], told: [] as unknown[] }
  const sweeper = {
    findNextDue: async () => {
      state.looks += 1
      return state.due
    },
    expireDue: async () => {
      if (state.told.length < failures) throw new Error('no')
      state.ended.push(now())
      state.due = null
    },
    stop: async () => undefined,
  }
  const job = createExpiryJob({ sweeper, trusted: now })
  job.start({
    did: () => undefined,
    failed: (cause) => state.told.push(cause),
  })
  return { state, clock, stop: job.stop }
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('a push that is due soon expires on time', async () => {
  const { state, stop } = startWith({ due: 300 })
  await pass(250)
  expect(state.ended).toEqual([])
  await pass(100)
  await stop()
  expect(state.ended).toEqual([300])
})

test('a push that becomes due earlier, or after a clock change, expires within two seconds', async () => {
  const { state, clock, stop } = startWith({ due: null })
  await pass(50)
  state.due = 100 * 86_400_000
  clock.advance(100 * 86_400_000)
  await pass(2_000)
  await stop()
  expect(state.ended).toHaveLength(1)
})

test('a push that is due in years causes one query a second, not a busy loop', async () => {
  const { state, stop } = startWith({ due: 2 ** 31 * 1_000 })
  await pass(10_000)
  await stop()
  expect(state.ended).toEqual([])
  expect(state.looks).toBeLessThan(12)
})

test('a failed sweep is reported, and retried some seconds later', async () => {
  const { state, stop } = startWith({ due: 0 }, 1)
  await pass(1_000)
  expect([state.told.length, state.ended.length]).toEqual([1, 0])
  await pass(7_000)
  await stop()
  expect([state.told.length, state.ended.length]).toEqual([1, 1])
})
