// The rows of accounts. Reading checks their checksum, and every change updates it.

import { and, eq, type SQL } from 'drizzle-orm'
import type { Account } from '../../../domain/account.ts'
import type { Connection } from '../engine/database.ts'
import { accounts } from '../engine/schema.ts'
import { checksumOf, isIntact, requireIntactRow } from '../integrity/row-checksum.ts'

export type AccountRow = typeof accounts.$inferSelect

/** The account without its credentials. Throws DamageError when the row was altered on disk. */
export function presentAccount(row: AccountRow): Account {
  requireIntactRow(row, checksumOfAccount(row), `account ${row.id} (${row.email})`)
  const { id, email, isAdmin, disabledAt, createdAt, totpSecret, resets } = row
  return { id, email, isAdmin, hasTwoFactor: totpSecret !== null, disabledAt, createdAt, resets }
}

/** Within a transaction. */
export function insertRow(
  { orm }: Pick<Connection, 'orm'>,
  account: Omit<typeof accounts.$inferInsert, 'id' | 'checksum'>,
): AccountRow {
  const row = orm.insert(accounts).values(account).returning().get()
  const checksum = checksumOfAccount(row)
  orm.update(accounts).set({ checksum }).where(eq(accounts.id, row.id)).run()
  return { ...row, checksum }
}

export type AccountUpdate = {
  id: number
  set: Partial<
    Pick<
      AccountRow,
      'passwordHash' | 'isAdmin' | 'disabledAt' | 'totpSecret' | 'totpStep' | 'lastSignInAt' | 'resets'
    >
  >
  /** Changes nothing unless the row meets this condition. */
  when?: SQL | undefined
}

/** Within a transaction. False when there is no such row. A damaged row keeps a wrong checksum, so that it stays detectable. */
export function updateRow({ orm }: Pick<Connection, 'orm'>, { id, set, when }: AccountUpdate): boolean {
  const row = orm
    .select()
    .from(accounts)
    .where(and(eq(accounts.id, id), when))
    .get()
  if (row === undefined) return false
  const checksum = isIntactAccount(row) ? checksumOfAccount({ ...row, ...set }) : row.checksum
  orm
    .update(accounts)
    .set({ ...set, checksum })
    .where(eq(accounts.id, id))
    .run()
  return true
}

/** Whether an account is as it was written. */
export function isIntactAccount(row: AccountRow): boolean {
  return isIntact(row, checksumOfAccount(row))
}

function checksumOfAccount(row: Omit<AccountRow, 'checksum'>): number {
  const {
    id,
    email,
    passwordHash,
    isAdmin,
    disabledAt,
    createdAt,
    totpSecret,
    totpStep,
    lastSignInAt,
    resets,
  } = row
  const values = [id, email, passwordHash, isAdmin, disabledAt, createdAt, totpSecret, totpStep]
  // Last, so that a 0 leaves the checksums of accounts from before these columns as they are.
  return checksumOf([...values, lastSignInAt, resets])
}
