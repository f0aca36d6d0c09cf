// Passwords of accounts: checking, hashing with argon2id, verifying.

import type { Argon2Cost } from '../crypto/passphrase.ts'
import { LEAST_PASSWORD_SCORE, NO_PASSWORD, passwordProblem } from '../domain/account.ts'
import { invalidFields } from '../domain/errors.ts'
import type { createScorePassword } from './password-score.ts'

export type Passwords = ReturnType<typeof createPasswords>

/**
 * Whether a hash is bcrypt. Imported accounts have one until they sign in; then the password is hashed with
 * argon2id.
 */
export function isBcrypt(hash: string): boolean {
  return /^\$2[abxy]?\$/.test(hash)
}

/** bcrypt reads the first 72 bytes, as in Ruby and most others. Bun would hash longer passwords first. */
const BCRYPT_BYTES = 72

/** Hashes and verifies passwords on another thread. */
export function createPasswords(
  { memoryKib, passes }: Argon2Cost,
  { nameOfInstance = (): string => 'Oncebox' } = {},
) {
  let nobody: Promise<string> | null = null
  let scoring: Promise<ReturnType<typeof createScorePassword>> | null = null

  /** Throws `invalid`, with the field `password`, for a short or easily guessed password. */
  async function requireGoodPassword(password: string, email: string): Promise<void> {
    const problem = passwordProblem(password)
    if (problem !== null) throw invalidFields({ password: [problem] })
    scoring ??= import('./password-score.ts').then((score) => score.createScorePassword())
    const score = (await scoring)(password, { instance: nameOfInstance(), email })
    if (score < LEAST_PASSWORD_SCORE) throw invalidFields({ password: [{ code: 'too_weak' }] })
  }

  function hashPassword(password: string): Promise<string> {
    return Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: passes })
  }

  /** Takes equally long without a hash, so that timing does not reveal which accounts exist. */
  async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
    nobody = nobody ?? hashPassword('nobody has this password')
    const known = hash === NO_PASSWORD ? null : hash
    const tested = known ?? (await nobody)
    const given = isBcrypt(tested) ? Buffer.from(password).subarray(0, BCRYPT_BYTES) : password
    const isRight = await Bun.password.verify(given, tested).catch(() => false)
    return isRight && known !== null
  }

  return { requireGoodPassword, hashPassword, verifyPassword }
}
