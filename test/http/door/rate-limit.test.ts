// The Retry-After of the rate limit.

import { expect, test } from 'bun:test'
import { networkOf } from '../../../src/domain/client.ts'
import { DomainError } from '../../../src/domain/errors.ts'
import { createLimitRate } from '../../../src/http/door/rate-limit.ts'

async function waitOf(address: string, limit: { requests: number; seconds: number }) {
  const limitRate = createLimitRate(limit, networkOf)
  for (let n = 0; n < limit.requests; n += 1) await limitRate(address)
  try {
    await limitRate(address)
    return 'let in'
  } catch (cause) {
    if (!(cause instanceof DomainError)) throw cause
    return [cause.code, cause.details.retryAfter]
  }
}

test.each([
  [1, 1],
  [10, 10],
  [60, 60],
  [3600, 60],
])(
  'a limit over %d seconds has a Retry-After of %d: whole seconds, at most a minute',
  async (seconds, wait) => {
    expect(await waitOf('192.0.2.1', { requests: 2, seconds })).toEqual(['too_many', wait])
  },
)

test('loopback is never limited', async () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    expect(await waitOf(address, { requests: 1, seconds: 10 })).toBe('let in')
})
