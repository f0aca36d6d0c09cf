// Accounts: made, listed, locked and removed by whoever has the machine.

import { type Account, parseEmail } from '../../domain/account.ts'
import { DomainError } from '../../domain/errors.ts'
import type { AccountStore } from '../../store/account-store.ts'
import { hashPassword, requireGoodPassword } from './passwords.ts'

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts({ accounts, twoFactor }: Pick<AccountStore, 'accounts' | 'twoFactor'>) {
  /** Throws `invalid` for a bad address or password, `conflict` when there is such an account. */
  async function addAccount(input: { email: string; password: string; isAdmin: boolean }): Promise<Account> {
    const email = requireEmail(input.email)
    requireGoodPassword(input.password)
    const passwordHash = await hashPassword(input.password)
    return accounts.addAccount({ email, passwordHash, isAdmin: input.isAdmin })
  }

  /** Throws `not_found`. */
  function requireAccount(email: string): Account {
    const account = accounts.findAccount(requireEmail(email))
    if (account === null) throw new DomainError('not_found', `There is no account for ${email}.`)
    return account
  }

  /** Also of one whose row is damaged: what takes something from it still works. Throws `not_found`. */
  function requireId(email: string): number {
    const id = accounts.findId(requireEmail(email))
    if (id === null) throw new DomainError('not_found', `There is no account for ${email}.`)
    return id
  }

  /** `revoke` takes API tokens, invitations and reset links along that were made with the old one. */
  async function setPassword(input: { email: string; password: string; revoke?: boolean }): Promise<void> {
    const { password, revoke = false } = input
    const { id } = requireAccount(input.email)
    requireGoodPassword(password)
    return accounts.setPasswordHash({ id, passwordHash: await hashPassword(password), revoke })
  }

  /** `keepAdmin` refuses the last administrator with `conflict`. Stops the account's API tokens at once; its pushes stay as they are. */
  async function disableAccount(email: string, { keepAdmin = false } = {}): Promise<void> {
    return accounts.setDisabled({ id: requireId(email), disabled: true, keepAdmin })
  }

  /** Also of a disabled account. Throws `not_found`. */
  async function makeAdmin(email: string): Promise<void> {
    return accounts.setAdmin({ id: requireAccount(email).id, isAdmin: true })
  }

  /** Its invitations and reset links go, its pushes stay. Throws `not_found`, and `conflict` for the last administrator. */
  async function unmakeAdmin(email: string): Promise<void> {
    const { id, isAdmin } = requireAccount(email)
    if (isAdmin) await accounts.setAdmin({ id, isAdmin: false })
  }

  async function enableAccount(email: string): Promise<void> {
    return accounts.setDisabled({ id: requireAccount(email).id, disabled: false })
  }

  /** For who has lost the phone and the recovery codes. */
  async function turnOffTwoFactor(email: string): Promise<void> {
    return twoFactor.remove(requireAccount(email).id)
  }

  /** Disables the account, then removes its pushes in small steps, then itself; can be run again when interrupted. */
  async function removeAccount(email: string, { keepAdmin = false } = {}): Promise<{ pushes: number }> {
    const id = requireId(email)
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
    requireId,
    findId: accounts.findId,
    setPassword,
    makeAdmin,
    unmakeAdmin,
    disableAccount,
    enableAccount,
    turnOffTwoFactor,
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
