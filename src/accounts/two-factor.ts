// The second factor of an account: an authenticator app, and recovery codes for a lost phone.

import type { Keyring } from '../crypto/keyring.ts'
import { sealForAccount } from '../crypto/sealed-field.ts'
import { hashRecoveryCode, newRecoveryCode } from '../crypto/tokens.ts'
import { checkTotp, deriveTotpSecret, isTotpSecret, totpUri } from '../crypto/totp.ts'
import type { Account, Session } from '../domain/account.ts'
import { HOUR, type Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { SignInLimit } from './sign-in-limit.ts'

const RECOVERY_CODES = 10

export type TwoFactor = ReturnType<typeof createTwoFactor>

type TwoFactorOptions = {
  store: Pick<Store, 'accounts' | 'twoFactor'>
  keyring: Keyring
  limit: Pick<SignInLimit, 'tryCode'>
  now: Now
  /** The system's clock, by which phones compute codes. */
  systemNow: Now
}

export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
}

export function createTwoFactor({ store, keyring, limit, now, systemNow }: TwoFactorOptions) {
  /**
   * Offers a secret for an authenticator app, and stores it once a code proves that the app has it. For an
   * hour a session gets the same secret on every node, so that a reload does not replace the scanned one. A
   * secret that was in use before is never offered again.
   */
  async function offer({ id, email }: Account, { session, issuer }: { session: Session; issuer: string }) {
    const lastStep = (await store.accounts.findCredentials(email))?.totpStep ?? null
    const place = [id, session.id, session.createdAt, Math.floor(now() / HOUR), lastStep]
    const secret = deriveTotpSecret(keyring.sealing.owner, place.join('/'))
    return { secret, uri: totpUri({ secret, email, issuer }) }
  }

  /** Repeats the offer after a wrong code. Returns null if `secret` is malformed. */
  function offerAgain(secret: string, { email }: Account, issuer: string) {
    return isTotpSecret(secret) ? { secret, uri: totpUri({ secret, email, issuer }) } : null
  }

  /**
   * Resolves to the recovery codes, shown once; null if the code is wrong, or a second factor is already on.
   * Throws `too_many`.
   */
  async function turnOn(account: Account, given: { secret: string; code: string }): Promise<string[] | null> {
    const work = () => tryTurnOn(account, given)
    return limit.tryCode(account.id, { work, isRight: (codes) => codes !== null })
  }

  async function tryTurnOn({ id }: Account, given: { secret: string; code: string }) {
    if (!isTotpSecret(given.secret)) return null
    const step = checkTotp({ ...given, now: systemNow(), lastStep: null })
    if (step === null) return null
    const codes = newRecoveryCodes()
    const isSet = await store.twoFactor.set({
      accountId: id,
      sealedSecret: sealForAccount(given.secret, { accountId: id, field: 'totp', keyring }),
      step,
      recoveryHashes: codes.map(hashRecoveryCode),
    })
    return isSet ? codes : null
  }

  return {
    offer,
    offerAgain,
    turnOn,
    /** Turns the app off. Passkeys stay a second factor. */
    turnOff: ({ id }: Account): Promise<void> => store.twoFactor.removeAuthenticator(id),
    countRecoveryCodes: ({ id }: Account): Promise<number> => store.twoFactor.countRecoveryCodes(id),
  }
}
