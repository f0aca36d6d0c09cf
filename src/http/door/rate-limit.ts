// Limits the requests of each address, against runaway scripts and guessing. Loopback is limited only in
// requests that other sites send.

import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import { type ClientOf, countingLoopback } from '../../domain/client.ts'
import { tooMany } from '../../domain/errors.ts'

export type RateLimit = { requests: number; seconds: number }

/** 100 requests a second on average: far more than people and their scripts send. */
export const DEFAULT_RATE_LIMIT: RateLimit = { requests: 1000, seconds: 10 }

/**
 * Counts a request. Throws `too_many` with the seconds to wait. Returns null if there is nothing to wait for.
 */
export type LimitRate = (address: string) => Promise<void> | null

/**
 * Limits the refusals of cross-site requests. Includes loopback, because the browser may run on the server's
 * machine.
 */
export function createLimitOtherSites(limit: RateLimit, clientOf: ClientOf): LimitRate {
  return createLimitRate(limit, countingLoopback(clientOf))
}

/** Creates a limit per node: nodes do not share counts. */
export function createLimitRate({ requests, seconds }: RateLimit, clientOf: ClientOf): LimitRate {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  const consume = async (key: string): Promise<void> => {
    try {
      await limiter.consume(key)
    } catch (cause) {
      // The library rejects with this class when the limit is reached, and with an Error when it fails.
      if (!(cause instanceof RateLimiterRes)) throw cause
      throw tooMany('Too many requests from this address', cause.msBeforeNext)
    }
  }
  return (address) => {
    const key = clientOf(address)
    return key === null ? null : consume(key)
  }
}
