// How often somebody may try to sign in: counted before the try, given back when it was right.

import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { parseEmail } from '../domain/account.ts'
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

export type Attempt<T> = { work: () => Promise<T>; isRight: (result: T) => boolean }

export type SignInLimit = ReturnType<typeof createSignInLimit>

/** `isKnownAddress`: whoever is signed in from there is not locked out by guesses from elsewhere. */
export function createSignInLimit(isKnownAddress: (email: string, address: string) => boolean) {
  const limiterOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_SECONDS })
  const addresses = limiterOf(TRIES_OF_ADDRESS)
  const pairs = limiterOf(TRIES_OF_PAIR)
  const accounts = limiterOf(TRIES_OF_ACCOUNT)
  const codes = limiterOf(TRIES_OF_CODE)

  type Count = [RateLimiterMemory, string]

  function countsOf(email: string, address: string): Count[] {
    const from = limitKey(address)
    const account = parseEmail(email) ?? 'none'
    const ofAddress: Count[] = from === null ? [] : [[addresses, from]]
    const ofAccount: Count[] = isKnownAddress(email, address) ? [] : [[accounts, account]]
    return [...ofAddress, [pairs, `${from ?? 'here'} ${account}`], ...ofAccount]
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

  /**
   * Counts a try, works, and gives the try back when it was right or could not be made. Throws `too_many` with the
   * seconds to wait, and whatever the work throws.
   */
  async function attempt<T>(tries: Count[], { work, isRight }: Attempt<T>): Promise<T> {
    const takeBack = await count(tries)
    try {
      const result = await work()
      if (isRight(result)) await takeBack()
      return result
    } catch (cause) {
      await takeBack()
      throw cause
    }
  }

  return {
    tryPassword: <T>(from: { email: string; address: string }, what: Attempt<T>): Promise<T> =>
      attempt(countsOf(from.email, from.address), what),
    tryCode: <T>(accountId: number, what: Attempt<T>): Promise<T> =>
      attempt([[codes, String(accountId)]], what),
  }
}
