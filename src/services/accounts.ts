// Accounts: made, listed, locked and removed by whoever has the machine.

import { type Account, parseEmail, passwordProblem } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import type { AccountStore } from '../store/store.ts'

export type Accounts = ReturnType<typeof createAccounts>

export function createAccounts({ accounts }: Pick<AccountStore, 'accounts'>) {
  /** Throws `invalid` for a bad address or password, `conflict` when there is such an account. */
  async function addAccount(input: { email: string; password: string; isAdmin: boolean }): Promise<Account> {
    const email = requireEmail(input.email)
    const passwordHash = await hashPassword(input.password)
    return accounts.addAccount({ email, passwordHash, isAdmin: input.isAdmin })
  }

  /** Throws `not_found`. */
  function requireAccount(email: string): Account {
    const account = accounts.findAccount(requireEmail(email))
    if (account === null) throw new DomainError('not_found', `There is no account for ${email}.`)
    return account
  }

  async function setPassword({ email, password }: { email: string; password: string }): Promise<void> {
    const { id } = requireAccount(email)
    return accounts.setPasswordHash({ id, passwordHash: await hashPassword(password) })
  }

  /** Stops the account's API tokens at once; its pushes stay as they are. */
  async function disableAccount(email: string): Promise<void> {
    return accounts.setDisabled({ id: requireAccount(email).id, disabled: true })
  }

  async function enableAccount(email: string): Promise<void> {
    return accounts.setDisabled({ id: requireAccount(email).id, disabled: false })
  }

  /** Disables the account, then removes its pushes in small steps, then itself; can be run again when interrupted. */
  async function removeAccount(email: string): Promise<{ pushes: number }> {
    const { id } = requireAccount(email)
    await accounts.setDisabled({ id, disabled: true })
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
    setPassword,
    disableAccount,
    enableAccount,
    removeAccount,
  }
}

function requireEmail(text: string): string {
  const email = parseEmail(text)
  if (email === null) throw new DomainError('invalid', `"${text}" is not an e-mail address.`)
  return email
}

async function hashPassword(password: string): Promise<string> {
  const problem = passwordProblem(password)
  if (problem !== null) throw new DomainError('invalid', `The password ${problem}.`)
  return Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 19 * 1024, timeCost: 2 })
}
