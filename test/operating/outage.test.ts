// What the log says of an outage: a line at its beginning, a line at its end, and little of what comes and goes.

import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { formatLength } from '../../src/domain/time.ts'
import { createOutage } from '../../src/operating/outage.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

function start() {
  const said: string[] = []
  return { said, outage: createOutage({ say: (line) => said.push(line), over: 'It works again,' }) }
}

test('an outage is told when it begins and when it has ended, with its length', () => {
  const { said, outage } = start()
  outage.began('away', 'It is away: start it.')
  outage.began('away', 'It is away: start it, please.')
  expect(outage.isOn()).toBe(true)
  jest.advanceTimersByTime(42_000)
  outage.ended()
  outage.ended()
  expect(outage.isOn()).toBe(false)
  expect(said).toEqual(['It is away: start it.', 'It works again, after 42 s.'])
})

test('an outage that was noticed late is told with its whole length', () => {
  const { said, outage } = start()
  const since = performance.now()
  jest.advanceTimersByTime(15_000)
  outage.began('silent', 'It is silent.', since)
  jest.advanceTimersByTime(5_000)
  outage.ended()
  expect(said[1]).toBe('It works again, after 20 s.')
})

test('another cause in the same outage is told too, because it wants another remedy', () => {
  const { said, outage } = start()
  outage.began('away', 'It is away.')
  outage.began('password', 'It refuses the password.')
  outage.began('away', 'It is away.')
  jest.advanceTimersByTime(600_000)
  outage.ended()
  expect(said).toEqual(['It is away.', 'It refuses the password.', 'It works again, after 10 min.'])
})

test('a server that comes and goes for an hour fills no log, and one that stays away is told', () => {
  const { said, outage } = start()
  for (let second = 0; second < 3_600; second += 2) {
    outage.began('away', 'It is away.')
    jest.advanceTimersByTime(1_000)
    outage.ended()
    jest.advanceTimersByTime(1_000)
  }
  expect(said.length).toBeLessThanOrEqual(2 * 61)
  said.length = 0
  outage.began('away', 'It is away.')
  jest.advanceTimersByTime(6_000)
  expect(said).toEqual(['It is away.'])
  outage.ended()
  expect(said).toEqual(['It is away.', 'It works again, after 6.0 s.'])
})

test.each([
  [0, '0.0 s'],
  [9_949, '9.9 s'],
  [42_400, '42 s'],
  [119_000, '119 s'],
  [7 * 60_000, '7 min'],
  [200 * 60_000, '3 h 20 min'],
])('%p ms are told as %p', (ms, words) => {
  expect(formatLength(ms)).toBe(words)
})
