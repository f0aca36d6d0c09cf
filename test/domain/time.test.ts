// Times as they are stored and shown.

import { expect, test } from 'bun:test'
import { formatTime, wholeMilliseconds } from '../../src/domain/time.ts'

test('a time is whole, and one beyond all dates is shown as the last date', () => {
  expect(Number(wholeMilliseconds(7.9))).toBe(7)
  expect(formatTime(Date.parse('2026-11-20T22:47:00.000Z'))).toBe('2026-11-20T22:47:00.000Z')
  expect(formatTime(Number.MAX_SAFE_INTEGER)).toBe('+275760-09-13T00:00:00.000Z')
  expect(formatTime(Number.MIN_SAFE_INTEGER)).toBe('-271821-04-20T00:00:00.000Z')
})
