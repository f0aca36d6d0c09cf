// How often somebody may try to sign in: counted before the try, given back when it was right.

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { DomainError } from '../domain/errors.ts'
import { limitKey } from './client-address.ts'

const WINDOW_SECONDS = 15 * 60
/** From one address, for whatever accounts. */
const TRIES_OF_ADDRESS = 50
/** At one account from one address: who mistypes stays far below, and locks nobody else out. */
const TRIES_OF_PAIR = 10
/** At one account from everywhere: a password of twelve characters outlives this rate by ages. */
const TRIES_OF_ACCOUNT = 100
/** At the codes of one account, which are short: whoever is here knows the password. */
const TRIES_OF_CODE = 10

export type SignInLimit = ReturnType<typeof createSignInLimit>

export function createSignInLimit() {
  const limiterOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS })
  const addresses = limiterOf(TRIES_OF_ADDRESS)
  const pairs = limiterOf(TRIES_OF_PAIR)
  const accounts = limiterOf(TRIES_OF_ACCOUNT)
  const codes = limiterOf(TRIES_OF_CODE)

  type Count = [RateLimiterMemory, string]

  function countsOf(email: string, address: string): Count[] {
    const from = limitKey(address)
    const account = email.trim().toLowerCase()
    const ofAddress: Count[] = from === null ? [] : [[addresses, from]]
    return [...ofAddress, [pairs, `${from ?? 'here'} ${account}`], [accounts, account]]
  }

  /** Counts a try; resolves to a function that takes it back. Throws `too_many` with the seconds to wait. */
  async function count(tries: Count[]): Promise<() => Promise<void>> {
    try {
      for (const [limiter, key] of tries) await limiter.consume(key)
    } catch (cause) {
      if (!(cause instanceof RateLimiterRes)) throw cause
      const retryAfter = Math.min(60, Math.max(1, Math.ceil(cause.msBeforeNext / 1000)))
      throw new DomainError('too_many', `Too many tries: try again in ${retryAfter} s.`, { retryAfter })
    }
    return async () => {
      for (const [limiter, key] of tries) await limiter.reward(key)
    }
  }

  return {
    countPassword: (email: string, address: string) => count(countsOf(email, address)),
    countCode: (accountId: number) => count([[codes, String(accountId)]]),
  }
}
