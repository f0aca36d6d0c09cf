// Offers for authenticator apps, of a process that serves alone.

import type { Now } from '../../domain/time.ts'
import type { Offer, OfferStore } from '../shared-face.ts'

/** Far more than are made in one hour. When there are more, the oldest is dropped. */
const MAX_OFFERS = 1_000

export function createMemoryOffers(now: Now): OfferStore {
  const offers = new Map<number, Offer>()

  async function keep(offer: Offer): Promise<Uint8Array> {
    const { session } = offer
    const before = offers.get(session)
    if (before !== undefined && before.until > now()) return before.sealed
    offers.delete(session)
    offers.set(session, offer)
    const [oldest] = offers.keys()
    if (offers.size > MAX_OFFERS && oldest !== undefined) offers.delete(oldest)
    return offer.sealed
  }

  return { keep, forget: async (session) => void offers.delete(session) }
}
