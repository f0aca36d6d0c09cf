// One-time links that make an account or set its password: only their hashes. Each exported operation is one atomic step.

import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { ACCOUNT_LINK_LIFETIME, type Account, type AccountLink } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import { type AccountRows, presentAccount } from './accounts.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import { accountLinks, accounts } from './schema.ts'

export type AccountLinkRows = ReturnType<typeof createAccountLinks>

export type NewAccountLink = Pick<AccountLink, 'purpose' | 'accountId' | 'email' | 'isAdmin'> & {
  hash: Buffer
}

export type AccountLinkUse = {
  hash: Buffer
  /** The address that whoever opens it gave; the link's own wins. */
  email: string
  passwordHash: string
}

export function createAccountLinks(options: {
  connection: Connection
  accounts: Pick<AccountRows, 'insertAccount' | 'replacePassword'>
  transact: Transact
  now: Now
}) {
  const { transact, now, accounts: accountRows } = options
  const { orm } = options.connection

  /** Takes the place of an older one for the same: one setup link, one reset an account, one invitation an address. */
  function addLink({ hash, ...link }: NewAccountLink): Promise<void> {
    return transact(() => {
      const createdAt = now()
      removeOlder(link)
      const expiresAt = createdAt + ACCOUNT_LINK_LIFETIME[link.purpose]
      orm
        .insert(accountLinks)
        .values({ hash, ...link, createdAt, expiresAt })
        .run()
    })
  }

  function removeOlder({ purpose, accountId, email }: Omit<NewAccountLink, 'hash'>): void {
    const { purpose: kind, accountId: account, email: address, expiresAt } = accountLinks
    orm.delete(accountLinks).where(lte(expiresAt, now())).run()
    if (purpose === 'setup') orm.delete(accountLinks).where(eq(kind, 'setup')).run()
    if (accountId !== null) orm.delete(accountLinks).where(eq(account, accountId)).run()
    if (purpose === 'invite' && email !== null) {
      orm
        .delete(accountLinks)
        .where(and(eq(kind, 'invite'), eq(address, email)))
        .run()
    }
  }

  /** Null for one that was used, has lapsed, or may set up what has an account already. */
  function findLink(hash: Buffer): AccountLink | null {
    const live = and(eq(accountLinks.hash, hash), gt(accountLinks.expiresAt, now()))
    const link = orm.select(COLUMNS).from(accountLinks).where(live).get()
    return link === undefined || (link.purpose === 'setup' && hasAccounts()) ? null : link
  }

  /** Whether there is any account at all. */
  function hasAccounts(): boolean {
    return orm.select({ id: accounts.id }).from(accounts).limit(1).get() !== undefined
  }

  /** Makes the account or sets its password, and uses the link up. Throws `not_found` or `conflict`. */
  function useLink({ hash, email, passwordHash }: AccountLinkUse): Promise<Account> {
    return transact(() => {
      const link = findLink(hash)
      if (link === null) throw new DomainError('not_found', 'not-found')
      const { accountId, isAdmin } = link
      orm.delete(accountLinks).where(eq(accountLinks.id, link.id)).run()
      if (accountId === null)
        return accountRows.insertAccount({ email: link.email ?? email, passwordHash, isAdmin })
      accountRows.replacePassword({ id: accountId, passwordHash })
      const row = orm.select().from(accounts).where(eq(accounts.id, accountId)).get()
      if (row === undefined) throw new DomainError('not_found', 'not-found')
      return presentAccount(row)
    })
  }

  /** Invitations that wait to be opened. */
  function listInvitations(): AccountLink[] {
    return orm
      .select(COLUMNS)
      .from(accountLinks)
      .where(and(eq(accountLinks.purpose, 'invite'), gt(accountLinks.expiresAt, now())))
      .orderBy(asc(accountLinks.createdAt))
      .all()
  }

  function removeInvitation(id: number): Promise<void> {
    const one = and(eq(accountLinks.id, id), eq(accountLinks.purpose, 'invite'))
    return transact(() => void orm.delete(accountLinks).where(one).run())
  }

  return { addLink, findLink, hasAccounts, useLink, listInvitations, removeInvitation }
}

const COLUMNS = {
  id: accountLinks.id,
  purpose: accountLinks.purpose,
  accountId: accountLinks.accountId,
  email: accountLinks.email,
  isAdmin: accountLinks.isAdmin,
  createdAt: accountLinks.createdAt,
  expiresAt: accountLinks.expiresAt,
}
