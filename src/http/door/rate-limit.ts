// Limits the requests of each address, against runaway scripts and guessing. Loopback has no limit but for those of other sites.

import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import type { ClientOf } from '../../domain/client.ts'
import { DomainError, retrySeconds } from '../../domain/errors.ts'

export type RateLimit = { requests: number; seconds: number }

/** 100 requests a second on average: far more than people and their scripts send. */
export const DEFAULT_RATE_LIMIT: RateLimit = { requests: 1000, seconds: 10 }

/** What the other nodes of an instance count, as far as they have told: they do so every second. */
export type OtherNodes = { note(key: string): void; others(key: string): number }

/** Throws `too_many` with the seconds to wait. Returns null when there is nothing to wait for. */
export type LimitRate = (address: string) => Promise<void> | null

/** Counts of a hundredth of the limit are worth telling. */
export function exchangedOf({ requests, seconds }: RateLimit) {
  return { kind: 'requests', window: seconds * 1000, least: Math.ceil(requests / 100) }
}

type Counted = { clientOf: ClientOf; elsewhere?: OtherNodes }

const NO_OTHERS: OtherNodes = { note: () => undefined, others: () => 0 }

/** Over several nodes the limit is approximate: each may allow what the others have counted within the last second. */
export function createLimitRate(limit: RateLimit, { clientOf, elsewhere = NO_OTHERS }: Counted): LimitRate {
  const consume = createConsume(limit, elsewhere)
  return (address) => {
    const key = clientOf(address)
    return key === null ? null : consume(key)
  }
}

/** Limits the refusals of what other sites make a browser send. That comes from loopback too, if the server runs beside it. */
export function createLimitOtherSites(limit: RateLimit, clientOf: ClientOf): LimitRate {
  const consume = createConsume(limit, NO_OTHERS)
  return (address) => consume(clientOf(address) ?? 'loopback')
}

function createConsume({ requests, seconds }: RateLimit, elsewhere: OtherNodes) {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  return async (key: string): Promise<void> => {
    elsewhere.note(key)
    const { consumedPoints, msBeforeNext } = await limiter.consume(key).catch(spentOf)
    if (consumedPoints + elsewhere.others(key) <= requests) return
    const retryAfter = retrySeconds(msBeforeNext)
    const message = `Too many requests from this address: try again in ${retryAfter} s.`
    throw new DomainError('too_many', message, { retryAfter })
  }
}

/** The limiter rejects with the state of a key that is used up. */
function spentOf(cause: unknown): RateLimiterRes {
  if (!(cause instanceof RateLimiterRes)) throw cause
  return cause
}
