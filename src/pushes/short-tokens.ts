// Limits guesses of short tokens. Only imported pushes have them; their 55 bits could be found without a limit.

import { isShortUrlToken } from '../crypto/url-token.ts'
import type { Visit } from '../domain/audit.ts'
import { DomainError, retrySeconds } from '../domain/errors.ts'
import { MINUTE, type Now } from '../domain/time.ts'
import { createWindowedCounts } from '../domain/windowed-counts.ts'

/** For one address on one node. Loopback is limited too, because everybody comes from it behind an undeclared proxy. */
const MISSES_A_MINUTE = 60
export type ShortTokens = ReturnType<typeof createShortTokens>

export type ShortTokensOptions = {
  now: Now
  /** The client that an address belongs to; null for loopback. */
  clientOf: (address: string) => string | null
}

export function createShortTokens({ now, clientOf }: ShortTokensOptions) {
  const misses = createWindowedCounts({ window: MINUTE, now })
  const keyOf = ({ ip }: Visit) => clientOf(ip) ?? 'loopback'

  /** Throws `too_many`, also for tokens that exist, because any other answer would show that they do. */
  function requireTries(urlToken: string, visit: Visit): void {
    if (!isShortUrlToken(urlToken)) return
    const key = keyOf(visit)
    const { spent, until } = misses.read(key)
    if (spent < MISSES_A_MINUTE) return
    const retryAfter = retrySeconds(until - now())
    const message = `Too many links from this address that do not exist: try again in ${retryAfter} s.`
    throw new DomainError('too_many', message, { retryAfter })
  }

  /** Throws as `requireTries` does when this miss exceeds the limit. */
  function countMiss(urlToken: string, visit: Visit): void {
    requireTries(urlToken, visit)
    if (!isShortUrlToken(urlToken)) return
    misses.spend(keyOf(visit))
  }

  return { requireTries, countMiss }
}
