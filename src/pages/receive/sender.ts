// The person behind a link: the account that shares or asks, if it chose to be named.

import type { Accounts } from '../../accounts/accounts.ts'
import type { PushLimits } from '../../domain/new-push.ts'

export type FindSenderOptions = {
  accounts: Pick<Accounts, 'findById'>
  limits: Pick<PushLimits, 'showSender'>
}

type Named = { showsSender: boolean; ownerId: number | null }

/**
 * Returns a function that finds the current e-mail address of a sender; null if it is not shown. Queries the
 * store only for those who chose to be named.
 */
export function createFindSender({ accounts, limits }: FindSenderOptions) {
  return async ({ showsSender, ownerId }: Named): Promise<string | null> => {
    if (!showsSender || !limits.showSender || ownerId === null) return null
    const account = await accounts.findById(ownerId)
    return account === null || account.disabledAt !== null ? null : account.email
  }
}
