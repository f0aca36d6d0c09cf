// How a server leaves a load balancer before it stops.

import { expect, test } from 'bun:test'
import { createDeparture } from '../../src/operating/departure.ts'

function leaveAfter(times: number[], now: number) {
  let clock = 0
  const waited: number[] = []
  const departure = createDeparture({
    elapsed: () => clock,
    wait: async (ms) => {
      waited.push(ms)
    },
  })
  const answers = times.map((at) => {
    clock = at
    return departure.asked()
  })
  clock = now
  return { departure, waited, answers }
}

test.each([
  ['each second', [0, 1000, 2000], 2100, [1500]],
  ['by two, at different intervals', [0, 5000, 5100, 6000], 6100, [5500]],
  ['less often than a server should take to stop', [0, 9000], 9100, [5500]],
])(
  'if a load balancer asks /readyz %s, the stopping server waits until it asks again',
  async (_, times, now, pauses) => {
    const { departure, waited, answers } = leaveAfter(times, now)
    expect(answers).not.toContain(true)
    await departure.leave()
    expect(waited).toEqual(pauses)
    expect(departure.asked()).toBe(true)
  },
)

test.each([
  ['never', []],
  ['once', [0]],
  ['long ago', [0, 1000]],
])('a server that is asked %s stops soon', async (_, times) => {
  const { departure, waited } = leaveAfter(times, 20_000)
  expect(departure.isLeaving()).toBe(false)
  await departure.leave()
  expect(waited).toEqual([500])
  expect(departure.isLeaving()).toBe(true)
})
