// Accounts as they are kept. Each exported operation is one atomic step.

import { and, asc, eq, sql } from 'drizzle-orm'
import type { Account } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import type { PushRows } from './push-rows.ts'
import { accounts, pushes } from './schema.ts'

const STEP = 100

export type AccountRows = ReturnType<typeof createAccounts>

export function createAccounts(options: {
  connection: Connection
  transact: Transact
  now: Now
  rows: Pick<PushRows, 'remove'>
}) {
  const { transact, now, rows } = options
  const { orm } = options.connection

  function addAccount(account: { email: string; passwordHash: string; isAdmin: boolean }): Promise<Account> {
    return transact(() => {
      if (findAccount(account.email) !== null) {
        throw new DomainError('conflict', `There is an account for ${account.email} already.`)
      }
      return withoutHash(
        orm
          .insert(accounts)
          .values({ ...account, createdAt: now() })
          .returning()
          .get(),
      )
    })
  }

  function findAccount(email: string): Account | null {
    const row = orm.select().from(accounts).where(eq(accounts.email, email)).get()
    return row === undefined ? null : withoutHash(row)
  }

  function listAccounts(): Account[] {
    return orm.select().from(accounts).orderBy(asc(accounts.email)).all().map(withoutHash)
  }

  function setPasswordHash({ id, passwordHash }: { id: number; passwordHash: string }): Promise<void> {
    return transact(() => void orm.update(accounts).set({ passwordHash }).where(eq(accounts.id, id)).run())
  }

  function setDisabled({ id, disabled }: { id: number; disabled: boolean }): Promise<void> {
    const disabledAt = disabled ? now() : null
    const unlessSo = disabled ? sql`${accounts.disabledAt} IS NULL` : undefined
    return transact(
      () =>
        void orm
          .update(accounts)
          .set({ disabledAt })
          .where(and(eq(accounts.id, id), unlessSo))
          .run(),
    )
  }

  /** Deletes some of an account's pushes with all that belongs to them; returns how many. */
  function removePushesOf(id: number): Promise<number> {
    return transact(() => {
      const some = orm
        .select({ id: pushes.id, lastEntry: pushes.lastEntry })
        .from(pushes)
        .where(eq(pushes.ownerId, id))
        .limit(STEP)
        .all()
      for (const push of some) rows.remove(push, now())
      return some.length
    })
  }

  /** The account must own no pushes any more; its API tokens go with it. */
  function removeAccount(id: number): Promise<void> {
    return transact(() => void orm.delete(accounts).where(eq(accounts.id, id)).run())
  }

  return {
    addAccount,
    findAccount,
    listAccounts,
    setPasswordHash,
    setDisabled,
    removePushesOf,
    removeAccount,
  }
}

export function withoutHash({ passwordHash: _, ...account }: typeof accounts.$inferSelect): Account {
  return account
}
