// Secrets that a page offers for an authenticator app. Kept for a while, so that a reload shows the one that was scanned, on
// whichever node. Sealed, as the secret that is turned on will be.

import type { Keyring } from '../crypto/keyring.ts'
import { openWithKeyring, sealWithKeyring } from '../crypto/sealed-field.ts'
import { newTotpSecret } from '../crypto/totp.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { OfferStore } from '../store/shared-face.ts'

const LIFETIME = HOUR

export type TwoFactorOffers = ReturnType<typeof createTwoFactorOffers>

export function createTwoFactorOffers(options: { offers: OfferStore; keyring: Keyring; now: Now }) {
  const { offers, keyring, now } = options

  /** The secret of this session: the same one until it is used or an hour has passed. */
  async function secretFor(session: number): Promise<string> {
    const place = placeOf(session)
    const secret = newTotpSecret()
    const sealed = sealWithKeyring(Buffer.from(secret), keyring, place)
    const offer = { session, sealed, until: now() + LIFETIME }
    const opened = openWithKeyring(await offers.keep(offer), keyring, place)
    if (opened !== null) return opened.toString('utf8')
    // The key of the kept one is not in the key file any more. Another node may be first to replace it.
    await offers.forget(session)
    const replaced = openWithKeyring(await offers.keep(offer), keyring, place)
    return replaced?.toString('utf8') ?? secret
  }

  return { secretFor, forget: offers.forget }
}

function placeOf(session: number) {
  return { subkey: 'owner', subject: Buffer.from(`session/${session}`), field: 'totp offer' } as const
}
