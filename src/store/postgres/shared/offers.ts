// Offers for authenticator apps as rows, sealed by the service.

import { HOUR, type Now } from '../../../domain/time.ts'
import type { Offer, OfferStore } from '../../shared-face.ts'
import type { Transact } from '../engine/database.ts'

export type OffersOptions = { transact: Transact; now: Now; onError: (cause: unknown) => void }

export function createOfferRows({ transact, now, onError }: OffersOptions): OfferStore {
  async function keep({ session: id, sealed, until }: Offer): Promise<Uint8Array> {
    const [kept] = await transact((session) =>
      session.query<{ secret: Uint8Array }>(KEEP, [id, sealed, until, now()]),
    )
    return kept?.secret ?? sealed
  }

  async function forget(id: number): Promise<void> {
    const text = 'DELETE FROM two_factor_offers WHERE session_id = $1'
    await transact((session) => session.query(text, [id]), WITHIN).catch(onError)
  }

  return { keep, forget }
}

/** The recovery codes, which are shown once, should not wait for long. */
const WITHIN = { within: 1_000 }

/** An offer that lapses an hour later than the new one was made by a clock that was ahead. */
const IS_IN_EFFECT = `two_factor_offers.until > $4::bigint AND two_factor_offers.until <= excluded.until + ${HOUR}`

const KEEP = `
  INSERT INTO two_factor_offers (session_id, secret, until) VALUES ($1, $2, $3)
  ON CONFLICT (session_id) DO UPDATE SET
    secret = CASE WHEN ${IS_IN_EFFECT} THEN two_factor_offers.secret ELSE excluded.secret END,
    until = CASE WHEN ${IS_IN_EFFECT} THEN two_factor_offers.until ELSE excluded.until END
  RETURNING secret`
