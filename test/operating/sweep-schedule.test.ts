// When expiry by time is looked for: at its moment, whatever the clock does meanwhile, and not all the time.

import { expect, test } from 'bun:test'
import { createExpiryJob } from '../../src/operating/sweep-schedule.ts'
import { createTestClock } from '../support/instance.ts'

/** Something that is due once, at a time that may change. */
function startWith({ due }: { due: number | null }, failures = 0) {
  const clock = createTestClock(0)
  const state = { due, looks: 0, ended: [] as number[], told: [] as unknown[] }
  const sweeper = {
    findNextDue: async () => {
      state.looks += 1
      return state.due
    },
    expireDue: async () => {
      if (state.told.length < failures) throw new Error('no')
      state.ended.push(clock.now())
      state.due = null
    },
    stop: async () => undefined,
  }
  const started = performance.now()
  const { now } = { now: () => clock.now() + Math.floor(performance.now() - started) }
  const job = createExpiryJob({ sweeper, now })
  job.start({
    did: () => undefined,
    failed: (cause) => state.told.push(cause),
    finished: () => undefined,
  })
  return { state, clock, stop: job.stop }
}

async function until(check: () => boolean, patience: number): Promise<void> {
  const deadline = performance.now() + patience
  while (!check() && performance.now() < deadline) await Bun.sleep(5)
}

test('what is due soon is ended at its moment', async () => {
  const { state, stop } = startWith({ due: 300 })
  await Bun.sleep(200)
  expect(state.ended).toEqual([])
  await until(() => state.ended.length > 0, 1_000)
  stop()
  expect(state.ended).toHaveLength(1)
})

test('what comes to be due earlier, or by a clock that was set, is ended within two seconds', async () => {
  const { state, clock, stop } = startWith({ due: null })
  await Bun.sleep(50)
  state.due = 100 * 86_400_000
  clock.advance(100 * 86_400_000)
  await until(() => state.ended.length > 0, 2_000)
  stop()
  expect(state.ended).toHaveLength(1)
})

test('what is due in years costs a look a second, not a loop', async () => {
  const { state, stop } = startWith({ due: 2 ** 31 * 1_000 })
  await Bun.sleep(2_500)
  stop()
  expect(state.ended).toEqual([])
  expect(state.looks).toBeLessThan(6)
})

test('a failure is told and tried again, some seconds later', async () => {
  const { state, stop } = startWith({ due: 0 }, 1)
  await until(() => state.ended.length > 0, 8_000)
  stop()
  expect([state.told.length, state.ended.length]).toEqual([1, 1])
}, 10_000)
