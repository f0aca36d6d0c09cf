// Limits the requests of each address, against runaway scripts and guessing. Loopback has no limit but for
// those of other sites.

import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import type { ClientOf } from '../../domain/client.ts'
import { tooMany } from '../../domain/errors.ts'

export type RateLimit = { requests: number; seconds: number }

/** 100 requests a second on average: far more than people and their scripts send. */
export const DEFAULT_RATE_LIMIT: RateLimit = { requests: 1000, seconds: 10 }

/** Throws `too_many` with the seconds to wait. Returns null when there is nothing to wait for. */
export type LimitRate = (address: string) => Promise<void> | null

/**
 * Limits the refusals of what other sites make a browser send. That comes from loopback too, if the server
 * runs beside it.
 */
export function createLimitOtherSites(limit: RateLimit, clientOf: ClientOf): LimitRate {
  return createLimitRate(limit, (address) => clientOf(address) ?? 'loopback')
}

/** Each node limits what reaches it. */
export function createLimitRate({ requests, seconds }: RateLimit, clientOf: ClientOf): LimitRate {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  const consume = async (key: string): Promise<void> => {
    try {
      await limiter.consume(key)
    } catch (cause) {
      // The state of a key that is used up.
      if (!(cause instanceof RateLimiterRes)) throw cause
      throw tooMany('Too many requests from this address', cause.msBeforeNext)
    }
  }
  return (address) => {
    const key = clientOf(address)
    return key === null ? null : consume(key)
  }
}
