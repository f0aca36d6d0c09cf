// What a refusal tells: when to try again.

import { expect, test } from 'bun:test'
import { retrySeconds } from '../../src/domain/errors.ts'

test.each([
  [-5, 1],
  [0, 1],
  [1, 1],
  [1000, 1],
  [1001, 2],
  [59_001, 60],
  [60_001, 60],
  [Number.POSITIVE_INFINITY, 60],
])('a wait of %p ms is told as %p s', (wait, seconds) => {
  expect(retrySeconds(wait)).toBe(seconds)
})
