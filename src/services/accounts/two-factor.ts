// The second factor of an account: an authenticator app, and recovery codes for the day the phone is gone.

import type { Keyring } from '../../crypto/keyring.ts'
import { hashRecoveryCode, newRecoveryCode } from '../../crypto/random-token.ts'
import { keyNumberOf, openField, sealField } from '../../crypto/sealed-field.ts'
import { checkTotp, isTotpSecret, newTotpSecret, totpUri } from '../../crypto/totp.ts'
import type { Account } from '../../domain/account.ts'
import type { Now } from '../../domain/time.ts'
import type { Store } from '../../store/store.ts'

const RECOVERY_CODES = 10

export type TwoFactor = ReturnType<typeof createTwoFactor>

export type TwoFactorOptions = { store: Pick<Store, 'twoFactor'>; keyring: Keyring; systemNow: Now }

export function createTwoFactor({ store, keyring, systemNow }: TwoFactorOptions) {
  /** What the app is told: kept by nobody until a code has proved that it was. */
  function offer({ email }: Account, issuer: string): { secret: string; uri: string } {
    const secret = newTotpSecret()
    return { secret, uri: totpUri({ secret, email, issuer }) }
  }

  /** The offer again, after a wrong code. Null for what is no secret. */
  function offerAgain(secret: string, { email }: Account, issuer: string) {
    return isTotpSecret(secret) ? { secret, uri: totpUri({ secret, email, issuer }) } : null
  }

  /** The recovery codes, seen this one time; null when the code is not of this secret and moment, or when one is on. */
  async function turnOn({ id }: Account, given: { secret: string; code: string }): Promise<string[] | null> {
    if (!isTotpSecret(given.secret)) return null
    const step = checkTotp({ ...given, now: systemNow(), lastStep: null })
    if (step === null) return null
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
    const isSet = await store.twoFactor.set({
      accountId: id,
      sealedSecret: sealTotpSecret(given.secret, { accountId: id, keyring }),
      step,
      recoveryHashes: codes.map(hashRecoveryCode),
    })
    return isSet ? codes : null
  }

  return {
    offer,
    offerAgain,
    turnOn,
    turnOff: ({ id }: Account): Promise<void> => store.twoFactor.remove(id),
    countRecoveryCodes: ({ id }: Account): number => store.twoFactor.countRecoveryCodes(id),
  }
}

type Place = { accountId: number; keyring: Keyring }

function sealTotpSecret(secret: string, { accountId, keyring: { sealing } }: Place): Buffer {
  return sealField(Buffer.from(secret), { key: sealing.owner, number: sealing.number }, placeOf(accountId))
}

/** Null when it does not open: the database was altered, or its key is gone. Recovery codes work all the same. */
export function openTotpSecret(sealed: Uint8Array, { accountId, keyring }: Place): string | null {
  const key = keyring.keys.find(({ number }) => number === keyNumberOf(sealed))
  const opened = key && openField(sealed, { key: key.owner, number: key.number }, placeOf(accountId))
  return opened?.toString('utf8') ?? null
}

function placeOf(accountId: number) {
  return { pushId: Buffer.from(`account/${accountId}`), field: 'totp' }
}
