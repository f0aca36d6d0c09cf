// Tests the wait that a refusal names, and the location that damage names.

import { expect, test } from 'bun:test'
import { DamageError, retrySeconds } from '../../src/domain/errors.ts'

test.each([
  [-5, 1],
  [0, 1],
  [1, 1],
  [1000, 1],
  [1001, 2],
  [59_001, 60],
  [60_001, 60],
  [Number.POSITIVE_INFINITY, 60],
])('a wait of %p ms is presented as %p s', (wait, seconds) => {
  expect(retrySeconds(wait)).toBe(seconds)
})

test('a damage error names the place and the medium', () => {
  expect(new DamageError('push 1').message).toBe(
    'damaged on disk: push 1 is not as it was written. docs/damage.md says what to do; ' +
      'no backup holds what is inside a push',
  )
  expect(new DamageError('push 1', 'server').message).toStartWith('damaged in PostgreSQL: push 1 is not as')
  const lost = new DamageError('a file of push 1', 'bucket').message
  expect(lost).toStartWith('damaged in the bucket: a file of push 1 is missing there')
  expect(lost).not.toContain('disk')
})
