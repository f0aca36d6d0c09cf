// What an owner does to several of their pushes at once. Passes over what is not theirs.

import type { Account } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { nullIfMissing } from '../domain/errors.ts'
import type { Store } from '../store/face.ts'
import type { PushFinder } from './push-finder.ts'

/** More than a page of a list holds. */
const MAX_SELECTED = 200

type Options = { store: Pick<Store, 'pushes' | 'lists'>; finder: PushFinder }

export function createOwnerSelection({ store, finder }: Options) {
  /** Expires them in one step; resolves to the number that this ended. */
  async function expireSelected(
    urlTokens: readonly string[],
    { account, visit }: { account: Account; visit: Visit },
  ): Promise<number> {
    const ids = await findOwn(urlTokens, account)
    return ids.length === 0 ? 0 : store.pushes.expirePushes({ ids, ownerId: account.id, visit })
  }

  /** Marks them as seen by their owner. Resolves to the number of pushes that had unseen views. */
  async function markSeen(urlTokens: readonly string[], account: Account): Promise<number> {
    const ids = await findOwn(urlTokens, account)
    if (ids.length > 0) await store.lists.markSeen({ ownerId: account.id, ids })
    return ids.length
  }

  async function findOwn(urlTokens: readonly string[], account: Account): Promise<number[]> {
    const ids: number[] = []
    for (const urlToken of new Set(urlTokens.slice(0, MAX_SELECTED))) {
      const push = await finder.getOwnPush(urlToken, account).catch(nullIfMissing)
      if (push !== null) ids.push(push.id)
    }
    return ids
  }

  return { expireSelected, markSeen }
}
