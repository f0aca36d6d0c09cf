// Limits by address: what exceeds them, and when a push fits again.

import { expect, test } from 'bun:test'
import { exceededLimit, findRoom } from '../../src/domain/shares.ts'

const LIMITS = { pushes: 3, bytes: 100 }

test.each([
  [{ pushes: 2, bytes: 40 }, 60, null],
  [{ pushes: 3, bytes: 0 }, 1, 'pushes'],
  [{ pushes: 0, bytes: 41 }, 60, 'bytes'],
  [{ pushes: 3, bytes: 100 }, 60, 'pushes'],
] as const)('of %j, one more with %i bytes exceeds: %s', (taken, bytes, limit) => {
  expect(exceededLimit(taken, bytes, LIMITS)).toBe(limit)
})

test('a limit of 0 limits nothing', () => {
  const taken = { pushes: 1e9, bytes: 1e12 }
  expect(exceededLimit(taken, 1, { pushes: 0, bytes: 0 })).toBeNull()
  expect(exceededLimit(taken, 1, { pushes: 0, bytes: 5 })).toBe('bytes')
})

test('a push fits once enough pushes and bytes have expired', () => {
  const live = [
    { bytes: 10, expiresAt: 1 },
    { bytes: 50, expiresAt: 2 },
    { bytes: 40, expiresAt: 3 },
  ]
  const taken = { pushes: 3, bytes: 100 }
  expect(findRoom(taken, 10, { live, limits: LIMITS })).toBe(1)
  expect(findRoom(taken, 11, { live, limits: LIMITS })).toBe(2)
  expect(findRoom(taken, 100, { live, limits: LIMITS })).toBe(3)
  expect(findRoom(taken, 101, { live, limits: LIMITS })).toBeNull()
  // If the listed pushes do not free enough, expect the expiry of the last one.
  expect(findRoom({ pushes: 9, bytes: 100 }, 10, { live, limits: LIMITS })).toBe(3)
})
