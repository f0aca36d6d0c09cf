// Passwords of accounts: checking, hashing with argon2id, verifying.

import { passwordProblem } from '../../domain/account.ts'
import { DomainError } from '../../domain/errors.ts'
import { explainProblem } from '../../domain/problems.ts'

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19 * 1024, timeCost: 2 } as const

/** Throws `invalid`, on the field `password`. */
export function requireGoodPassword(password: string): void {
  const problem = passwordProblem(password)
  if (problem === null) return
  const details = { problems: { password: [problem] } }
  throw new DomainError('invalid', `The password ${explainProblem(problem)}.`, details)
}

/** Takes about 100 ms on another thread. */
export function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(password, ARGON2)
}

let nobody: Promise<string> | null = null

/** Takes equally long without a hash, so that the time does not reveal which accounts exist. */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  nobody = nobody ?? hashPassword('nobody has this password')
  const isRight = await Bun.password.verify(password, hash ?? (await nobody)).catch(() => false)
  return isRight && hash !== null
}
