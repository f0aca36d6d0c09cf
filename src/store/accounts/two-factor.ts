// The second factor of an account: a sealed secret, hashed recovery codes, and its passkeys.

import type { NewTwoFactor } from '../accounts-contract.ts'
import { addTo, select, statement } from '../statements.ts'
import { affected, all, run, type Step, type Steps } from '../steps.ts'
import { recoveryCodes } from '../tables.ts'
import { lockAccount } from './accounts.ts'

const SET = statement<{ id: number }>(
  'UPDATE accounts SET totp_secret = $2, totp_step = $3 WHERE id = $1 AND totp_secret IS NULL RETURNING id',
)
/** Clears the factor but keeps its time step, so that no former secret is offered again. */
const REMOVE_PASSKEYS = statement('DELETE FROM passkeys WHERE account_id = $1')
const FORGET_PASSKEYS = statement('UPDATE accounts SET passkeys = 0 WHERE id = $1')
const CLEAR = statement('UPDATE accounts SET totp_secret = NULL WHERE id = $1')
const USE_STEP = statement<{ id: number }>(
  'UPDATE accounts SET totp_step = $2 WHERE id = $1 AND (totp_step IS NULL OR totp_step < $2) RETURNING id',
)
const CODES = select(recoveryCodes, 'WHERE account_id = $1')
const addCode = addTo(recoveryCodes)
const REMOVE_CODES = statement('DELETE FROM recovery_codes WHERE account_id = $1')
const USE_CODE = statement<object>(
  'DELETE FROM recovery_codes WHERE account_id = $1 AND hash = $2 RETURNING account_id',
)

export function createTwoFactor({ read, write }: Steps) {
  return {
    /** Returns false when the account has a second factor already. */
    set: (factor: NewTwoFactor) => write(() => setTwoFactor(factor), { grows: true }),
    /** Removes everything: the secret, the recovery codes and the passkeys. */
    remove: (accountId: number) => write(() => removeTwoFactor(accountId)),
    /** Removes the secret. Keeps the recovery codes if there are passkeys. */
    removeAuthenticator: (accountId: number) => write(() => removeAuthenticator(accountId)),
    /** Returns false when the code of this step, or of a later one, was used before. */
    useStep: ({ accountId, step }: { accountId: number; step: number }) =>
      write(() => affected(USE_STEP, accountId, step)),
    /** Uses up a recovery code. Returns false for an unknown or used one. */
    useRecoveryCode: ({ accountId, hash }: { accountId: number; hash: Buffer }) =>
      write(() => affected(USE_CODE, accountId, hash)),
    countRecoveryCodes: async (accountId: number) => (await read(() => all(CODES, accountId))).length,
  }
}

function* setTwoFactor({ accountId, sealedSecret, step, recoveryHashes }: NewTwoFactor): Step<boolean> {
  if (!(yield* affected(SET, accountId, sealedSecret, step))) return false
  yield* run(REMOVE_CODES, accountId)
  yield* addRecoveryCodes(accountId, recoveryHashes)
  return true
}

export function* removeTwoFactor(accountId: number): Step<void> {
  yield* run(CLEAR, accountId)
  yield* run(FORGET_PASSKEYS, accountId)
  yield* run(REMOVE_PASSKEYS, accountId)
  yield* run(REMOVE_CODES, accountId)
}

function* removeAuthenticator(accountId: number): Step<void> {
  const account = yield* lockAccount(accountId)
  yield* run(CLEAR, accountId)
  if (account?.passkeys === 0) yield* run(REMOVE_CODES, accountId)
}

/** Adds the recovery codes of an account that had no second factor. */
export function* addRecoveryCodes(accountId: number, hashes: readonly Buffer[]): Step<void> {
  for (const hash of hashes) yield* addCode({ accountId, hash })
}

export function removeRecoveryCodes(accountId: number): Step<void> {
  return run(REMOVE_CODES, accountId)
}

/** Stores the second factor of an imported account. */
export function* importTwoFactor(imported: {
  accountId: number
  sealedSecret: Uint8Array
  step: number | null
}): Step<void> {
  yield* affected(SET, imported.accountId, imported.sealedSecret, imported.step)
}
