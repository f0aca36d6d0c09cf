// The second factor of an account: a sealed secret and hashed recovery codes. Each exported operation is one atomic step.

import { and, count, eq, isNull, lt, or } from 'drizzle-orm'
import type { NewTwoFactor, TwoFactorStore } from '../../accounts-face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { accounts, recoveryCodes } from '../engine/schema.ts'
import { updateRow } from './account-rows.ts'

export function createTwoFactor(options: { connection: Connection; transact: Transact }): TwoFactorStore {
  const { transact } = options
  const { orm } = options.connection

  function set({ accountId, sealedSecret, step, recoveryHashes }: NewTwoFactor): Promise<boolean> {
    return transact(() => {
      const set = { totpSecret: sealedSecret, totpStep: step }
      const isSet = updateRow({ orm }, { id: accountId, set, when: isNull(accounts.totpSecret) })
      if (isSet) replaceCodes({ accountId, recoveryHashes })
      return isSet
    })
  }

  function replaceCodes({ accountId, recoveryHashes }: Pick<NewTwoFactor, 'accountId' | 'recoveryHashes'>) {
    orm.delete(recoveryCodes).where(eq(recoveryCodes.accountId, accountId)).run()
    for (const hash of recoveryHashes) orm.insert(recoveryCodes).values({ accountId, hash }).run()
  }

  function remove(accountId: number): Promise<void> {
    return transact(() => {
      updateRow({ orm }, { id: accountId, set: { totpSecret: null, totpStep: null } })
      replaceCodes({ accountId, recoveryHashes: [] })
    })
  }

  function useStep({ accountId, step }: { accountId: number; step: number }): Promise<boolean> {
    return transact(() => {
      const isLater = or(isNull(accounts.totpStep), lt(accounts.totpStep, step))
      return updateRow({ orm }, { id: accountId, set: { totpStep: step }, when: isLater })
    })
  }

  function useRecoveryCode({ accountId, hash }: { accountId: number; hash: Buffer }): Promise<boolean> {
    return transact(() => {
      const one = and(eq(recoveryCodes.accountId, accountId), eq(recoveryCodes.hash, hash))
      const used = orm
        .delete(recoveryCodes)
        .where(one)
        .returning({ accountId: recoveryCodes.accountId })
        .get()
      return used !== undefined
    })
  }

  async function countRecoveryCodes(accountId: number): Promise<number> {
    const row = orm
      .select({ left: count() })
      .from(recoveryCodes)
      .where(eq(recoveryCodes.accountId, accountId))
      .get()
    return row?.left ?? 0
  }

  return { set, remove, useStep, useRecoveryCode, countRecoveryCodes }
}
