// Accounts as they are kept. Each exported operation is one atomic step.

import { and, asc, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Account } from '../../../domain/account.ts'
import { DomainError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
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
import type { Damage } from '../integrity/damage.ts'
import type { PushRemoval, RemovalStep } from '../pushes/push-removal.ts'
import { isOwnedBy, type PushRows } from '../pushes/push-rows.ts'
import { insertRow, isIntactAccount, presentAccount, updateRow } from './account-rows.ts'

const STEP = 100
/** Milliseconds that removing pushes may keep requests waiting at a time. */
const STEP_MS = 10

export type NewAccount = { email: string; passwordHash: string; isAdmin: boolean }

export type DisabledChange = { id: number; disabled: boolean; keepAdmin?: boolean }

export type NewPassword = {
  id: number
  passwordHash: string
  keepSession?: number | null
  /** What was made with the old password goes as well: API tokens, and links for other accounts. */
  revoke?: boolean
}

/** `totpSecret` is sealed; `totpStep` is the last step of time whose code was used. */
export type Credentials = {
  account: Account
  passwordHash: string
  totpSecret: Uint8Array | null
  totpStep: number | null
}

export type AccountRows = ReturnType<typeof createAccounts>

export function createAccounts(options: {
  connection: Connection
  transact: Transact
  now: Now
  rows: Pick<PushRows, 'disown'>
  removal: PushRemoval
  damage: Pick<Damage, 'presentIntact'>
}) {
  const { transact, now, rows, removal, damage } = options
  const { orm } = options.connection

  /** Within a transaction. Throws `conflict` when there is such an account. */
  function insertAccount(account: NewAccount): Account {
    if (findId(account.email) !== null) {
      throw new DomainError('conflict', `There is an account for ${account.email} already.`)
    }
    const row = { ...account, createdAt: now() }
    return presentAccount(insertRow({ orm }, row))
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

  /** Also of one whose row is damaged: it can be stopped and removed. */
  function findId(email: string): number | null {
    return orm.select({ id: accounts.id }).from(accounts).where(eq(accounts.email, email)).get()?.id ?? null
  }

  function listAccounts(): Account[] {
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
   * Within a transaction: for a password that is set by a link, which an administrator has seen. What the account could
   * look at before belongs to nobody any more, so that such a link opens nothing of it; its tokens go, too.
   */
  function startAnew({ endsTwoFactor, ...password }: NewPassword & { endsTwoFactor: boolean }): void {
    const { id } = password
    replacePassword({ ...password, revoke: true })
    const owned = orm.select({ id: pushes.id }).from(pushes).where(isOwnedBy(id))
    orm.delete(pushLabels).where(inArray(pushLabels.pushId, owned)).run()
    rows.disown(id)
    if (!endsTwoFactor) return
    updateRow({ orm }, { id, set: { totpSecret: null, totpStep: null } })
    orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, id)).run()
  }

  function setPasswordHash(password: NewPassword): Promise<void> {
    return transact(() => replacePassword(password))
  }

  /** With `keepAdmin`, throws `conflict` rather than disable the last administrator. What it invited is void with it. */
  function setDisabled({ id, disabled, keepAdmin = false }: DisabledChange): Promise<void> {
    const disabledAt = disabled ? now() : null
    const unlessSo = disabled ? isNull(accounts.disabledAt) : undefined
    return transact(() => {
      if (disabled && keepAdmin && !hasOtherAdmin(id)) throw lastAdmin()
      updateRow({ orm }, { id, set: { disabledAt }, when: unlessSo })
      if (!disabled) return
      orm.delete(sessions).where(eq(sessions.accountId, id)).run()
      orm.delete(accountLinks).where(eq(accountLinks.createdBy, id)).run()
    })
  }

  /**
   * Takes the links along that the account made as an administrator. Throws `conflict` rather than leave the instance
   * without an administrator.
   */
  function setAdmin({ id, isAdmin }: { id: number; isAdmin: boolean }): Promise<void> {
    return transact(() => {
      if (!isAdmin && !hasOtherAdmin(id)) throw lastAdmin()
      updateRow({ orm }, { id, set: { isAdmin } })
      if (!isAdmin) orm.delete(accountLinks).where(eq(accountLinks.createdBy, id)).run()
    })
  }

  function hasOtherAdmin(id: number): boolean {
    const other = and(eq(accounts.isAdmin, true), isNull(accounts.disabledAt), ne(accounts.id, id))
    return orm.select().from(accounts).where(other).all().some(isIntactAccount)
  }

  /** Deletes some of an account's pushes with all that belongs to them; returns how many, 0 when none is left. */
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

  /** The account must own no pushes any more; its API tokens go with it. What is another's by right is nobody's then. */
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
    findId,
    findCredentials,
    findById,
    listAccounts,
    setPasswordHash,
    setDisabled,
    setAdmin,
    removePushesOf,
    removeAccount,
  }
}

function lastAdmin(): DomainError {
  return new DomainError('conflict', 'This is the last administrator.')
}
