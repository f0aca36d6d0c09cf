// Storage and presentation of times.

import { expect, test } from 'bun:test'
import { formatLength, formatTime, wholeMilliseconds } from '../../src/domain/time.ts'

test('a time has no fraction, and one beyond the range of dates is shown as the last date', () => {
  expect(Number(wholeMilliseconds(7.9))).toBe(7)
  expect(formatTime(Date.parse('2026-11-20T22:47:00.000Z'))).toBe('2026-11-20T22:47:00.000Z')
  expect(formatTime(Number.MAX_SAFE_INTEGER)).toBe('+275760-09-13T00:00:00.000Z')
  expect(formatTime(Number.MIN_SAFE_INTEGER)).toBe('-271821-04-20T00:00:00.000Z')
})

test('times are formatted correctly in any order', () => {
  const begin = Date.parse('2026-11-20T22:47:00.000Z')
  const times = Array.from({ length: 500 }, (_, n) => begin + ((n * 7919) % 250))
  expect(times.map(formatTime)).toEqual(times.map((time) => new Date(time).toISOString()))
})

test.each([
  [0, '0.0 s'],
  [9_949, '9.9 s'],
  [42_400, '42 s'],
  [119_000, '119 s'],
  [7 * 60_000, '7 min'],
  [200 * 60_000, '3 h 20 min'],
])('%p ms are presented as %p', (ms, words) => {
  expect(formatLength(ms)).toBe(words)
})
