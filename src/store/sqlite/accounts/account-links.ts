// One-time links that make an account or set its password: only their hashes. Each exported operation is one atomic step.

import { and, asc, eq, gt, lte, ne } from 'drizzle-orm'
import { ACCOUNT_LINK_LIFETIME, type Account, type AccountLink } from '../../../domain/account.ts'
import { DomainError } from '../../../domain/errors.ts'
import { DAY, type Now } from '../../../domain/time.ts'
import type { AccountLinkStore, AccountLinkUse, NewAccountLink } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accountLinks, accounts } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'
import { isIntactAccount, presentAccount } from './account-rows.ts'
import type { AccountRows } from './accounts.ts'
import { requireSession } from './sessions.ts'

export function createAccountLinks(options: {
  connection: Connection
  accounts: AccountRows
  transact: Transact
  now: Now
  damage: Pick<Damage, 'presentIntact'>
}): AccountLinkStore {
  const { transact, now, accounts: accountRows, damage } = options
  const { orm } = options.connection

  function addLink({ hash, session, ...link }: NewAccountLink): Promise<void> {
    return transact(() => {
      requireSession(options.connection, session)
      const createdAt = now()
      removeOlder(link)
      const expiresAt = createdAt + ACCOUNT_LINK_LIFETIME[link.purpose]
      const row = { hash, ...link, createdAt, expiresAt }
      orm
        .insert(accountLinks)
        .values({ ...row, checksum: checksumOfLink(row) })
        .run()
    })
  }

  function removeOlder({ purpose, accountId, email }: Omit<NewAccountLink, 'hash' | 'session'>): void {
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

  function findLink(hash: Buffer): AccountLink | null {
    const time = now()
    // A link created more than a day in the future was made while the clock was ahead, and would be valid for too long.
    const inTime = and(gt(accountLinks.expiresAt, time), lte(accountLinks.createdAt, time + DAY))
    const live = and(eq(accountLinks.hash, hash), inTime)
    const row = orm.select().from(accountLinks).where(live).get()
    const link = row && presentLink(row)
    return link === undefined || (link.purpose === 'setup' && hasAdmin()) ? null : link
  }

  function hasAdmin(): boolean {
    // A damaged account may have been an administrator. Otherwise damage would open the setup to anybody.
    return orm
      .select()
      .from(accounts)
      .all()
      .some((row) => row.isAdmin || !isIntactAccount(row))
  }

  function useLink({ hash, email, passwordHash }: AccountLinkUse): Promise<Account> {
    return transact(() => {
      const link = findLink(hash)
      if (link === null) throw new DomainError('not_found', 'not-found')
      const { accountId, isAdmin } = link
      orm.delete(accountLinks).where(eq(accountLinks.id, link.id)).run()
      if (accountId === null)
        return accountRows.insertAccount({ email: link.email ?? email, passwordHash, isAdmin })
      accountRows.startAnew({ id: accountId, passwordHash, endsTwoFactor: link.endsTwoFactor })
      const row = orm.select().from(accounts).where(eq(accounts.id, accountId)).get()
      if (row === undefined) throw new DomainError('not_found', 'not-found')
      return presentAccount(row)
    })
  }

  async function listLinks(): Promise<AccountLink[]> {
    const rows = orm
      .select()
      .from(accountLinks)
      .where(and(ne(accountLinks.purpose, 'setup'), gt(accountLinks.expiresAt, now())))
      .orderBy(asc(accountLinks.createdAt))
      .all()
    return damage.presentIntact(rows, presentLink)
  }

  function removeLink(id: number): Promise<void> {
    const one = and(eq(accountLinks.id, id), ne(accountLinks.purpose, 'setup'))
    return transact(() => void orm.delete(accountLinks).where(one).run())
  }

  return {
    addLink,
    findLink: async (hash) => findLink(hash),
    hasAdmin: async () => hasAdmin(),
    useLink,
    listLinks,
    removeLink,
  }
}

type LinkRow = typeof accountLinks.$inferSelect

/** Throws when the row was altered on disk. */
function presentLink(row: LinkRow): AccountLink {
  requireIntactRow(row, checksumOfLink(row), `account link ${row.id}`)
  const { hash: _, checksum: __, ...link } = row
  return link
}

function checksumOfLink(row: Omit<LinkRow, 'id' | 'checksum'>): number {
  const { hash, purpose, accountId, email, isAdmin, endsTwoFactor, createdBy, createdAt, expiresAt } = row
  return checksumOf([
    hash,
    purpose,
    accountId,
    email,
    isAdmin,
    endsTwoFactor,
    createdBy,
    createdAt,
    expiresAt,
  ])
}
