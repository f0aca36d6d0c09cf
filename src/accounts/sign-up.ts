// Sign-up: anyone may create an account, if the instance allows it.

import { type Account, isSignupAddress } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { invalidFields } from '../domain/errors.ts'
import type { InLine } from '../pushes/waiting-line.ts'
import type { Accounts } from './accounts.ts'
import type { SignInLimit } from './sign-in-limit.ts'

export type SignUp = ReturnType<typeof createSignUp>

type SignUpOptions = {
  accounts: Pick<Accounts, 'addAccount'>
  /** Limits how many slow hashes run at once. */
  inLine: InLine
  limit: Pick<SignInLimit, 'trySignUp'>
  /** The domains of e-mail addresses that may sign up; if empty, all may. */
  domains: readonly string[]
}

/**
 * Creates an account. Throws `invalid`, `conflict` for an e-mail address that has an account, and `too_many`.
 */
export function createSignUp({ accounts, inLine, limit, domains }: SignUpOptions) {
  return async (given: { email: string; password: string; visit: Visit }): Promise<Account> => {
    const { email, password, visit } = given
    if (!isSignupAddress(email, domains)) throw invalidFields({ email: [{ code: 'domain_not_allowed' }] })
    const work = () => inLine(visit.ip, () => accounts.addAccount({ email, password, isAdmin: false }))
    return limit.trySignUp(visit.ip, work)
  }
}
