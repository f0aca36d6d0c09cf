// The name of the push of an event, for receivers that asked for it.

import type { Keyring } from '../crypto/keyring.ts'
import { openTexts } from '../pushes/labels.ts'
import type { Store } from '../store/face.ts'
import type { DueMessage } from '../store/notices-face.ts'

export type FindName = ReturnType<typeof createFindName>

export function createFindName({ store, keyring }: { store: Pick<Store, 'lists'>; keyring: Keyring }) {
  /** Null as well for a push that was purged, and for one that is not the account's. */
  return async ({ pushId, accountId }: DueMessage): Promise<string | null> => {
    const [texts] = pushId === null ? [] : await store.lists.readTexts([pushId])
    if (texts === undefined || texts.ownerId === null || texts.ownerId !== accountId) return null
    const place = { keyring, pushId: texts.lookup, ownerId: accountId, pushName: `push ${texts.id}` }
    return openTexts(texts, place).name || null
  }
}
