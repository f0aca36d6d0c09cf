// Stored accounts. Each exported operation is one atomic step.

import { and, asc, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Account } from '../../../domain/account.ts'
import type { Now } from '../../../domain/time.ts'
import type { AccountStore, Credentials, NewAccount, NewPassword } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import { lastAdministrator, usedEmail } from '../../every-engine/refusals.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import {
  accountLinks,
  accounts,
  apiTokens,
  pushes,
  pushLabels,
  recoveryCodes,
  sessions,
} from '../engine/schema.ts'
import { isOwnedBy } from '../pushes/push-checksum.ts'
import type { PushRemoval, RemovalStep } from '../pushes/push-removal.ts'
import type { PushRows } from '../pushes/push-rows.ts'
import { insertRow, isIntactAccount, presentAccount, updateRow } from './account-rows.ts'

const STEP = 100
/** Milliseconds that removing pushes may keep requests waiting at a time. */
const STEP_MS = 10

/** What links do to accounts, within their own transaction. */
export type AccountRows = {
  insertAccount(account: NewAccount): Account
  startAnew(password: NewPassword & { endsTwoFactor: boolean }): void
}

export function createAccounts(options: {
  connection: Connection
  transact: Transact
  now: Now
  rows: Pick<PushRows, 'disown'>
  removal: PushRemoval
  damage: Pick<Damage, 'presentIntact'>
}): AccountStore & AccountRows {
  const { transact, now, rows, removal, damage } = options
  const { orm } = options.connection

  /** Within a transaction. Throws `conflict` when there is such an account. */
  function insertAccount(account: NewAccount): Account {
    if (findId(account.email) !== null) throw usedEmail(account.email)
    const row = { ...account, createdAt: now(), lastSignInAt: 0 }
    return presentAccount(insertRow({ orm }, row))
  }

  function addAccount(account: NewAccount): Promise<Account> {
    return transact(() => insertAccount(account))
  }

  async function findCredentials(email: string): Promise<Credentials | null> {
    const row = orm.select().from(accounts).where(eq(accounts.email, email)).get()
    if (row === undefined) return null
    const { passwordHash, totpSecret, totpStep } = row
    return { account: presentAccount(row), passwordHash, totpSecret, totpStep }
  }

  async function findById(id: number): Promise<Account | null> {
    const row = orm.select().from(accounts).where(eq(accounts.id, id)).get()
    return row === undefined ? null : presentAccount(row)
  }

  async function findAccount(email: string): Promise<Account | null> {
    const row = orm.select().from(accounts).where(eq(accounts.email, email)).get()
    return row === undefined ? null : presentAccount(row)
  }

  function findId(email: string): number | null {
    return orm.select({ id: accounts.id }).from(accounts).where(eq(accounts.email, email)).get()?.id ?? null
  }

  async function listAccounts(): Promise<Account[]> {
    const rows = orm.select().from(accounts).orderBy(asc(accounts.email)).all()
    return damage.presentIntact(rows, presentAccount)
  }

  /** Within a transaction. Ends every session of the account, except one when it is named. */
  function replacePassword({ id, passwordHash, keepSession = null, revoke = false }: NewPassword): void {
    updateRow({ orm }, { id, set: { passwordHash } })
    const others = keepSession === null ? undefined : ne(sessions.id, keepSession)
    orm
      .delete(sessions)
      .where(and(eq(sessions.accountId, id), others))
      .run()
    orm.delete(accountLinks).where(eq(accountLinks.accountId, id)).run()
    if (!revoke) return
    orm.delete(apiTokens).where(eq(apiTokens.accountId, id)).run()
    orm.delete(accountLinks).where(eq(accountLinks.createdBy, id)).run()
  }

  /**
   * Within a transaction: for a password that is set with a reset link. The administrator who made the link could use it
   * themselves, so the account loses its pushes, which become anonymous, and its tokens.
   */
  function startAnew({ endsTwoFactor, ...password }: NewPassword & { endsTwoFactor: boolean }): void {
    const { id } = password
    replacePassword({ ...password, revoke: true })
    countReset(id)
    const owned = orm.select({ id: pushes.id }).from(pushes).where(isOwnedBy(id))
    orm.delete(pushLabels).where(inArray(pushLabels.pushId, owned)).run()
    rows.disown(id)
    if (!endsTwoFactor) return
    updateRow({ orm }, { id, set: { totpSecret: null, totpStep: null } })
    orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, id)).run()
  }

  /** What is under way for the account as it was is refused from now on. */
  function countReset(id: number): void {
    const row = orm.select({ resets: accounts.resets }).from(accounts).where(eq(accounts.id, id)).get()
    updateRow({ orm }, { id, set: { resets: (row?.resets ?? 0) + 1 } })
  }

  function setPasswordHash(password: NewPassword): Promise<void> {
    return transact(() => replacePassword(password))
  }

  function rehashPassword({ id, tested, passwordHash }: Parameters<AccountStore['rehashPassword']>[0]) {
    return transact(() =>
      updateRow({ orm }, { id, set: { passwordHash }, when: eq(accounts.passwordHash, tested) }),
    )
  }

  function setDisabled({
    id,
    disabled,
    keepAdmin = false,
  }: Parameters<AccountStore['setDisabled']>[0]): Promise<void> {
    const disabledAt = disabled ? now() : null
    const unlessSo = disabled ? isNull(accounts.disabledAt) : undefined
    return transact(() => {
      if (disabled && keepAdmin && !hasOtherAdmin(id)) throw lastAdministrator()
      updateRow({ orm }, { id, set: { disabledAt }, when: unlessSo })
      if (!disabled) return
      orm.delete(sessions).where(eq(sessions.accountId, id)).run()
      orm.delete(accountLinks).where(eq(accountLinks.createdBy, id)).run()
    })
  }

  function setAdmin({ id, isAdmin }: { id: number; isAdmin: boolean }): Promise<void> {
    return transact(() => {
      if (!isAdmin && !hasOtherAdmin(id)) throw lastAdministrator()
      updateRow({ orm }, { id, set: { isAdmin } })
      if (!isAdmin) orm.delete(accountLinks).where(eq(accountLinks.createdBy, id)).run()
    })
  }

  function hasOtherAdmin(id: number): boolean {
    const other = and(eq(accounts.isAdmin, true), isNull(accounts.disabledAt), ne(accounts.id, id))
    return orm.select().from(accounts).where(other).all().some(isIntactAccount)
  }

  async function removePushesOf(id: number): Promise<number> {
    for (;;) {
      const steps = await transact(() => removeSomeOf(id))
      const broken = steps.filter(({ step }) => step === 'broken').map(({ pushId }) => pushId)
      await removal.removeThoroughly(broken)
      const removed = steps.filter(({ step }) => step !== 'shortened').length
      if (removed > 0 || steps.length === 0) return removed
    }
  }

  /** Within a transaction: as many as the time of a step allows. */
  function removeSomeOf(id: number) {
    const deadline = performance.now() + STEP_MS
    const steps: { pushId: number; step: RemovalStep }[] = []
    for (const push of orm.select().from(pushes).where(isOwnedBy(id)).limit(STEP).all()) {
      steps.push({ pushId: push.id, step: removal.removeStep(push) })
      if (performance.now() > deadline) break
    }
    return steps
  }

  /** The account must own no pushes any more, and loses its API tokens. Damaged rows that still name it become anonymous. */
  function removeAccount(id: number): Promise<void> {
    return transact(() => {
      rows.disown(id)
      orm.delete(accounts).where(eq(accounts.id, id)).run()
    })
  }

  return {
    addAccount,
    insertAccount,
    startAnew,
    findAccount,
    findId: async (email) => findId(email),
    findCredentials,
    findById,
    listAccounts,
    setPasswordHash,
    rehashPassword,
    setDisabled,
    setAdmin,
    removePushesOf,
    removeAccount,
  }
}
