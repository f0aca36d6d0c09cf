// The rows of accounts, and the locks that decide between nodes. Every transaction locks an account before what belongs
// to it: its sessions, links and tokens, and last its pushes.

import { and, asc, eq, isNull, type SQL } from 'drizzle-orm'
import type { Account } from '../../../domain/account.ts'
import { endedSession, usedEmail } from '../../every-engine/refusals.ts'
import type { Session } from '../engine/database.ts'
import { accounts, sessions } from '../schema/schema.ts'

export type AccountRow = typeof accounts.$inferSelect

/** The account without its credentials. */
export function presentAccount(row: AccountRow): Account {
  const { id, email, isAdmin, disabledAt, createdAt, totpSecret, resets } = row
  return { id, email, isAdmin, hasTwoFactor: totpSecret !== null, disabledAt, createdAt, resets }
}

/** Within a transaction. Throws `conflict` when the address has an account, also one that another node is just adding. */
export async function insertAccount(
  { orm }: Session,
  account: Omit<typeof accounts.$inferInsert, 'id'>,
): Promise<AccountRow> {
  const [row] = await orm.insert(accounts).values(account).onConflictDoNothing().returning()
  if (row === undefined) throw usedEmail(account.email)
  return row
}

/**
 * Within a transaction. Nothing changes the account, or adds sessions, links or tokens to it, until the transaction ends. Its
 * pushes are created meanwhile, unless it is locked `alone`: this waits for creates under way.
 */
export async function lockAccount(
  { orm }: Session,
  id: number,
  { alone = false } = {},
): Promise<AccountRow | undefined> {
  const strength = alone ? 'update' : 'no key update'
  const [row] = await orm.select().from(accounts).where(eq(accounts.id, id)).for(strength)
  return row
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

/** Within a transaction. False when there is no such row. */
export async function updateAccount({ orm }: Session, { id, set, when }: AccountUpdate): Promise<boolean> {
  const changed = await orm
    .update(accounts)
    .set(set)
    .where(and(eq(accounts.id, id), when))
    .returning({ id: accounts.id })
  return changed.length > 0
}

/**
 * Within a transaction. Locks the active administrators, so that two nodes cannot each take away the other's last one. All
 * are locked in the same order.
 */
export async function lockAdmins({ orm }: Session): Promise<number[]> {
  const rows = await orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.isAdmin, true), isNull(accounts.disabledAt)))
    .orderBy(asc(accounts.id))
    .for('no key update')
  return rows.map(({ id }) => id)
}

/**
 * Within a transaction: throws `unauthenticated` when the session has ended, for example because the password was changed
 * meanwhile. The session cannot end before the transaction does. Null, for operations without a session, always passes.
 */
export async function requireSession({ orm }: Session, id: number | null): Promise<void> {
  if (id === null) return
  const found = await orm.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, id)).for('share')
  if (found.length === 0) throw endedSession()
}
