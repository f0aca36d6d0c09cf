// Secrets that a page offers for an authenticator app. Kept in memory, so that a reload shows the one that was scanned.

import { newTotpSecret } from '../../crypto/totp.ts'
import { HOUR, type Now } from '../../domain/time.ts'

const LIFETIME = HOUR
/** Far more than are made in one hour. When there are more, the oldest is dropped. */
const MAX_OFFERS = 1_000

export type TwoFactorOffers = ReturnType<typeof createTwoFactorOffers>

export function createTwoFactorOffers(now: Now) {
  const offers = new Map<number, { secret: string; until: number }>()

  /** The secret of this session: the same one until it is used or an hour has passed. */
  function secretFor(sessionId: number): string {
    const offer = offers.get(sessionId)
    if (offer !== undefined && offer.until > now()) return offer.secret
    const secret = newTotpSecret()
    offers.delete(sessionId)
    offers.set(sessionId, { secret, until: now() + LIFETIME })
    const [oldest] = offers.keys()
    if (offers.size > MAX_OFFERS && oldest !== undefined) offers.delete(oldest)
    return secret
  }

  return { secretFor, forget: (sessionId: number) => offers.delete(sessionId) }
}
