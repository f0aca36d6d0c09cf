// The second factor of an account: a sealed secret and hashed recovery codes. Each exported operation is one atomic step.

import { and, count, eq, isNull, lt, or } from 'drizzle-orm'
import type { NewTwoFactor, TwoFactorStore } from '../../accounts-face.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import { accounts, recoveryCodes } from '../schema/schema.ts'
import { updateAccount } from './account-rows.ts'

export function createTwoFactor({ read, transact }: { read: Read; transact: Transact }): TwoFactorStore {
  function set({ accountId, sealedSecret, step, recoveryHashes }: NewTwoFactor): Promise<boolean> {
    const set = { totpSecret: sealedSecret, totpStep: step }
    return transact(async (session) => {
      const isSet = await updateAccount(session, { id: accountId, set, when: isNull(accounts.totpSecret) })
      if (isSet) await replaceCodes(session, { accountId, recoveryHashes })
      return isSet
    })
  }

  function remove(accountId: number): Promise<void> {
    return transact((session) => removeTwoFactor(session, accountId))
  }

  function useStep({ accountId, step }: { accountId: number; step: number }): Promise<boolean> {
    const isLater = or(isNull(accounts.totpStep), lt(accounts.totpStep, step))
    return transact((session) =>
      updateAccount(session, { id: accountId, set: { totpStep: step }, when: isLater }),
    )
  }

  function useRecoveryCode({ accountId, hash }: { accountId: number; hash: Buffer }): Promise<boolean> {
    const one = and(eq(recoveryCodes.accountId, accountId), eq(recoveryCodes.hash, hash))
    return transact(async ({ orm }) => {
      const used = await orm.delete(recoveryCodes).where(one).returning({ of: recoveryCodes.accountId })
      return used.length > 0
    })
  }

  async function countRecoveryCodes(accountId: number): Promise<number> {
    const ofAccount = eq(recoveryCodes.accountId, accountId)
    const [row] = await read(({ orm }) => orm.select({ left: count() }).from(recoveryCodes).where(ofAccount))
    return row?.left ?? 0
  }

  return { set, remove, useStep, useRecoveryCode, countRecoveryCodes }
}

/** Within a transaction. */
export async function removeTwoFactor(session: Session, accountId: number): Promise<void> {
  await updateAccount(session, { id: accountId, set: { totpSecret: null, totpStep: null } })
  await replaceCodes(session, { accountId, recoveryHashes: [] })
}

async function replaceCodes(
  { orm }: Session,
  { accountId, recoveryHashes }: Pick<NewTwoFactor, 'accountId' | 'recoveryHashes'>,
): Promise<void> {
  await orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId))
  if (recoveryHashes.length === 0) return
  await orm.insert(recoveryCodes).values(recoveryHashes.map((hash) => ({ accountId, hash })))
}
