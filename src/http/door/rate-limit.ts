// Limits the requests of each address, against runaway scripts and guessing. Loopback has no limit.

import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import { DomainError, retrySeconds } from '../../domain/errors.ts'
import { limitKey } from './client-address.ts'

export type RateLimit = { requests: number; seconds: number }

/** 100 requests a second on average: far more than people and their scripts send. */
export const DEFAULT_RATE_LIMIT: RateLimit = { requests: 1000, seconds: 10 }

/** Throws `too_many` with the seconds to wait. Returns null when there is nothing to wait for. */
export type LimitRate = (address: string) => Promise<void> | null

export function createLimitRate({ requests, seconds }: RateLimit): LimitRate {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })

  async function consume(key: string): Promise<void> {
    try {
      await limiter.consume(key)
    } catch (cause) {
      if (!(cause instanceof RateLimiterRes)) throw cause
      const retryAfter = retrySeconds(cause.msBeforeNext)
      const message = `Too many requests from this address: try again in ${retryAfter} s.`
      throw new DomainError('too_many', message, { retryAfter })
    }
  }

  return (address) => {
    const key = limitKey(address)
    return key === null ? null : consume(key)
  }
}
