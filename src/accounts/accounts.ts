// Accounts: creating, listing, disabling and removing them.

import { type Account, parseEmail } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import type { Store } from '../store/contract.ts'
import type { Passwords } from './passwords.ts'

export type Accounts = ReturnType<typeof createAccounts>

type AccountsOptions = { store: Pick<Store, 'accounts' | 'twoFactor'>; passwords: Passwords }

export function createAccounts({ store, passwords }: AccountsOptions) {
  const { accounts, twoFactor } = store

  /** Throws `invalid` for a bad address or password, `conflict` when the account exists. */
  async function addAccount(input: { email: string; password: string; isAdmin: boolean }): Promise<Account> {
    const email = requireEmail(input.email)
    await passwords.requireGoodPassword(input.password, email)
    const passwordHash = await passwords.hashPassword(input.password)
    return accounts.addAccount({ email, passwordHash, isAdmin: input.isAdmin })
  }

  /** Returns the account. Throws `not_found`. */
  async function requireAccount(email: string): Promise<Account> {
    const account = await accounts.findAccount(requireEmail(email))
    if (account === null) throw new DomainError('not_found', `There is no account for ${email}.`)
    return account
  }

  /**
   * Sets a new password. `revoke` also removes the API tokens, invitations, reset links and webhooks that
   * were created with the old one.
   */
  async function setPassword(input: { email: string; password: string; revoke?: boolean }): Promise<void> {
    const { password, revoke = false } = input
    const { id, email } = await requireAccount(input.email)
    await passwords.requireGoodPassword(password, email)
    return accounts.setPasswordHash({ id, passwordHash: await passwords.hashPassword(password), revoke })
  }

  async function idOf(email: string): Promise<number> {
    return (await requireAccount(email)).id
  }

  /**
   * Makes an administrator an ordinary account. Removes their invitations and reset links, but not their
   * pushes. Throws `not_found`, or `conflict` for the last administrator.
   */
  async function unmakeAdmin(email: string): Promise<void> {
    const { id, isAdmin } = await requireAccount(email)
    if (isAdmin) await accounts.setAdmin({ id, isAdmin: false })
  }

  /** Makes an account an administrator, even a disabled one. Throws `not_found`. */
  async function removeAccount(email: string, { keepAdmin = false } = {}): Promise<{ pushes: number }> {
    const id = await idOf(email)
    await accounts.setDisabled({ id, disabled: true, keepAdmin })
    let pushes = 0
    for (;;) {
      const removed = await accounts.removePushesOf(id)
      if (removed === 0) break
      pushes += removed
    }
    await accounts.removeAccount(id)
    return { pushes }
  }

  return {
    addAccount,
    listAccounts: accounts.listAccounts,
    requireAccount,
    findAccount: accounts.findAccount,
    setPassword,
    /** Promotes an account, even a disabled one. Throws `not_found`. */
    makeAdmin: async (email: string) => accounts.setAdmin({ id: await idOf(email), isAdmin: true }),
    unmakeAdmin,
    /**
     * Disables an account and its API tokens at once; its pushes stay. With `keepAdmin`, throws `conflict`
     * for the last administrator.
     */
    disableAccount: async (email: string, { keepAdmin = false } = {}) =>
      accounts.setDisabled({ id: await idOf(email), disabled: true, keepAdmin }),
    enableAccount: async (email: string) => accounts.setDisabled({ id: await idOf(email), disabled: false }),
    /** Turns off the second factor, for an owner who has lost both the phone and the recovery codes. */
    turnOffTwoFactor: async (email: string) => twoFactor.remove(await idOf(email)),
    /** Sets whether the API tokens of an account never pause. */
    setService: async (email: string, isService: boolean) =>
      accounts.setService({ id: await idOf(email), isService }),
    removeAccount,
    findById: accounts.findById,
  }
}

function requireEmail(text: string): string {
  const email = parseEmail(text)
  if (email === null) {
    const details = { problems: { email: [{ code: 'not_email' as const }] } }
    throw new DomainError('invalid', `"${text}" is not an e-mail address.`, details)
  }
  return email
}
