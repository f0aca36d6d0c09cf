// Limits guesses of short tokens. Only imported pushes have them; their 55 bits could be found without a limit.

import { isShortUrlToken } from '../crypto/url-token.ts'
import type { Visit } from '../domain/audit.ts'
import { tooMany } from '../domain/errors.ts'
import { MINUTE, type Now } from '../domain/time.ts'

/** For one address on one node. Loopback is limited too, because everybody comes from it behind an undeclared proxy. */
const MISSES_A_MINUTE = 60
export type ShortTokens = ReturnType<typeof createShortTokens>

export type ShortTokensOptions = {
  now: Now
  /** The client that an address belongs to; null for loopback. */
  clientOf: (address: string) => string | null
}

export function createShortTokens({ now, clientOf }: ShortTokensOptions) {
  /** By client, ordered by `until`, the end of the minute that begins with a client's first miss. */
  const misses = new Map<string, { count: number; until: number }>()
  const keyOf = ({ ip }: Visit) => clientOf(ip) ?? 'loopback'

  function missesOf(visit: Visit) {
    const time = now()
    for (const [key, { until }] of misses) {
      if (until > time) break
      misses.delete(key)
    }
    return misses.get(keyOf(visit)) ?? { count: 0, until: time + MINUTE }
  }

  /** Throws `too_many`, also for tokens that exist, because any other answer would show that they do. */
  function requireTries(urlToken: string, visit: Visit): void {
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    if (count < MISSES_A_MINUTE) return
    throw tooMany('Too many links from this address that do not exist', until - now())
  }

  /** Throws as `requireTries` does when this miss exceeds the limit. */
  function countMiss(urlToken: string, visit: Visit): void {
    requireTries(urlToken, visit)
    if (!isShortUrlToken(urlToken)) return
    const { count, until } = missesOf(visit)
    misses.set(keyOf(visit), { count: count + 1, until })
  }

  return { requireTries, countMiss }
}
