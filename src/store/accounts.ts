// Accounts as they are kept. Each exported operation is one atomic step.

import { and, asc, eq, ne, sql } from 'drizzle-orm'
import type { Account } from '../domain/account.ts'
import { DomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import type { PushRows } from './push-rows.ts'
import { accounts, pushes, sessions } from './schema.ts'

const STEP = 100

export type NewAccount = { email: string; passwordHash: string; isAdmin: boolean }

export type NewPassword = { id: number; passwordHash: string; keepSession?: number | null }

/** `totpSecret` is sealed; `totpStep` is the last step of time whose code was used. */
export type Credentials = {
  account: Account
  passwordHash: string
  totpSecret: Buffer | null
  totpStep: number | null
}

export type AccountRows = ReturnType<typeof createAccounts>

export function createAccounts(options: {
  connection: Connection
  transact: Transact
  now: Now
  rows: Pick<PushRows, 'remove'>
}) {
  const { transact, now, rows } = options
  const { orm } = options.connection

  /** Within a transaction. Throws `conflict` when there is such an account. */
  function insertAccount(account: NewAccount): Account {
    if (findAccount(account.email) !== null) {
      throw new DomainError('conflict', `There is an account for ${account.email} already.`)
    }
    const row = { ...account, createdAt: now() }
    return presentAccount(orm.insert(accounts).values(row).returning().get())
  }

  function addAccount(account: NewAccount): Promise<Account> {
    return transact(() => insertAccount(account))
  }

  /** What signing in needs; null when there is no such account. */
  function findCredentials(email: string): Credentials | null {
    const row = orm.select().from(accounts).where(eq(accounts.email, email)).get()
    if (row === undefined) return null
    const { passwordHash, totpSecret, totpStep } = row
    return { account: presentAccount(row), passwordHash, totpSecret, totpStep }
  }

  function findById(id: number): Account | null {
    const row = orm.select().from(accounts).where(eq(accounts.id, id)).get()
    return row === undefined ? null : presentAccount(row)
  }

  function findAccount(email: string): Account | null {
    const row = orm.select().from(accounts).where(eq(accounts.email, email)).get()
    return row === undefined ? null : presentAccount(row)
  }

  function listAccounts(): Account[] {
    return orm.select().from(accounts).orderBy(asc(accounts.email)).all().map(presentAccount)
  }

  /** Within a transaction. Ends every session of the account, except one when it is named. */
  function replacePassword({ id, passwordHash, keepSession = null }: NewPassword): void {
    orm.update(accounts).set({ passwordHash }).where(eq(accounts.id, id)).run()
    const others = keepSession === null ? undefined : ne(sessions.id, keepSession)
    orm
      .delete(sessions)
      .where(and(eq(sessions.accountId, id), others))
      .run()
  }

  function setPasswordHash(password: NewPassword): Promise<void> {
    return transact(() => replacePassword(password))
  }

  function setDisabled({ id, disabled }: { id: number; disabled: boolean }): Promise<void> {
    const disabledAt = disabled ? now() : null
    const unlessSo = disabled ? sql`${accounts.disabledAt} IS NULL` : undefined
    return transact(() => {
      orm
        .update(accounts)
        .set({ disabledAt })
        .where(and(eq(accounts.id, id), unlessSo))
        .run()
      if (disabled) orm.delete(sessions).where(eq(sessions.accountId, id)).run()
    })
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
    insertAccount,
    replacePassword,
    findAccount,
    findCredentials,
    findById,
    listAccounts,
    setPasswordHash,
    setDisabled,
    removePushesOf,
    removeAccount,
  }
}

/** Without what signing in needs. */
export function presentAccount(row: typeof accounts.$inferSelect): Account {
  const { id, email, isAdmin, disabledAt, createdAt, totpSecret } = row
  return { id, email, isAdmin, hasTwoFactor: totpSecret !== null, disabledAt, createdAt }
}
