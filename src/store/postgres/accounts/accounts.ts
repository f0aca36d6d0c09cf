// Stored accounts. Each exported operation is one atomic step.

import { and, asc, eq, isNull, ne } from 'drizzle-orm'
import type { Account } from '../../../domain/account.ts'
import type { Now } from '../../../domain/time.ts'
import type { AccountStore, Credentials, NewAccount, NewPassword } from '../../accounts-face.ts'
import { lastAdministrator } from '../../every-engine/refusals.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import {
  accountLinks,
  accounts,
  apiTokens,
  messageTemplates,
  pushChoices,
  recoveryCodes,
  sessions,
} from '../schema/schema.ts'
import {
  type AccountRow,
  insertAccount,
  lockAccount,
  lockAdmins,
  presentAccount,
  updateAccount,
} from './account-rows.ts'
import { DISOWNING, type OwnedPushes } from './owned-pushes.ts'

export type AccountsOptions = { read: Read; transact: Transact; now: Now; owned: OwnedPushes }

export function createAccounts({ read, transact, now, owned }: AccountsOptions): AccountStore {
  function addAccount(account: NewAccount): Promise<Account> {
    return transact(async (session) =>
      presentAccount(await insertAccount(session, { ...account, createdAt: now(), lastSignInAt: 0 })),
    )
  }

  /** No address contains the character that PostgreSQL cannot take as text. */
  async function findRow(email: string): Promise<AccountRow | null> {
    if (email.includes('\0')) return null
    const [row] = await read(({ orm }) => orm.select().from(accounts).where(eq(accounts.email, email)))
    return row ?? null
  }

  async function findAccount(email: string): Promise<Account | null> {
    const row = await findRow(email)
    return row && presentAccount(row)
  }

  async function findCredentials(email: string): Promise<Credentials | null> {
    const row = await findRow(email)
    if (row === null) return null
    const { passwordHash, totpSecret, totpStep } = row
    return { account: presentAccount(row), passwordHash, totpSecret, totpStep }
  }

  async function findById(id: number): Promise<Account | null> {
    const [row] = await read(({ orm }) => orm.select().from(accounts).where(eq(accounts.id, id)))
    return row === undefined ? null : presentAccount(row)
  }

  async function listAccounts(): Promise<Account[]> {
    const rows = await read(({ orm }) => orm.select().from(accounts).orderBy(asc(accounts.email)))
    return rows.map(presentAccount)
  }

  const rehashPassword: AccountStore['rehashPassword'] = ({ id, tested, passwordHash }) =>
    transact((session) =>
      updateAccount(session, { id, set: { passwordHash }, when: eq(accounts.passwordHash, tested) }),
    )

  const setDisabled: AccountStore['setDisabled'] = ({ id, disabled, keepAdmin = false }) =>
    transact(async (session) => {
      if (disabled && keepAdmin) await requireOtherAdmin(session, id)
      const unlessSo = disabled ? isNull(accounts.disabledAt) : undefined
      await updateAccount(session, { id, set: { disabledAt: disabled ? now() : null }, when: unlessSo })
      if (!disabled) return
      await session.orm.delete(sessions).where(eq(sessions.accountId, id))
      await session.orm.delete(accountLinks).where(eq(accountLinks.createdBy, id))
    })

  const setAdmin: AccountStore['setAdmin'] = ({ id, isAdmin }) =>
    transact(async (session) => {
      if (!isAdmin) await requireOtherAdmin(session, id)
      await updateAccount(session, { id, set: { isAdmin } })
      if (!isAdmin) await session.orm.delete(accountLinks).where(eq(accountLinks.createdBy, id))
    })

  function removeAccount(id: number): Promise<void> {
    return transact(async (session) => {
      await lockAccount(session, id, { alone: true })
      for (const table of [sessions, apiTokens, recoveryCodes, messageTemplates, pushChoices])
        await session.orm.delete(table).where(eq(table.accountId, id))
      await removeLinks(session, id)
      await owned.disown(session, id)
      await session.orm.delete(accounts).where(eq(accounts.id, id))
    }, DISOWNING)
  }

  return {
    addAccount,
    findAccount,
    findId: async (email) => (await findRow(email))?.id ?? null,
    findCredentials,
    findById,
    listAccounts,
    setPasswordHash: (password) => transact((session) => replacePassword(session, password)),
    rehashPassword,
    setDisabled,
    setAdmin,
    removePushesOf: owned.removeSome,
    removeAccount,
  }
}

async function requireOtherAdmin(session: Session, id: number): Promise<void> {
  const admins = await lockAdmins(session)
  if (!admins.some((admin) => admin !== id)) throw lastAdministrator()
}

/** Within a transaction. Ends every session of the account, except one when it is named. */
export async function replacePassword(
  session: Session,
  { id, passwordHash, keepSession = null, revoke = false }: NewPassword,
): Promise<void> {
  const { orm } = session
  await updateAccount(session, { id, set: { passwordHash } })
  const others = keepSession === null ? undefined : ne(sessions.id, keepSession)
  await orm.delete(sessions).where(and(eq(sessions.accountId, id), others))
  await orm.delete(accountLinks).where(eq(accountLinks.accountId, id))
  if (!revoke) return
  await orm.delete(apiTokens).where(eq(apiTokens.accountId, id))
  await orm.delete(accountLinks).where(eq(accountLinks.createdBy, id))
}

/** Within a transaction: the links for an account, and those that it made. */
async function removeLinks({ orm }: Session, id: number): Promise<void> {
  await orm.delete(accountLinks).where(eq(accountLinks.accountId, id))
  await orm.delete(accountLinks).where(eq(accountLinks.createdBy, id))
}
