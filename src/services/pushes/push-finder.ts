// Finds a push by the token of its link, under whichever instance key it was made.

import type { InstanceKey, Keyring } from '../../crypto/keyring.ts'
import { isUrlToken, lookupOf } from '../../crypto/url-token.ts'
import { DomainError } from '../../domain/errors.ts'
import type { SealedPush, Store, StoredPush } from '../../store/face.ts'

export type PushFinder = ReturnType<typeof createPushFinder>

/** The link's token, and the instance key under which the push was made. */
type ByLink = { urlToken: string; instanceKey: InstanceKey }

/** A push found by its link, with all that it holds. */
export type FoundPush = ByLink & SealedPush

/** Every function throws `not_found` when there is no such push, or no such token could be. */
export function createPushFinder({ store, keyring }: { store: Pick<Store, 'pushes'>; keyring: Keyring }) {
  const { findPush, findSealedPush } = store.pushes

  async function find<Found>(urlToken: string, look: (lookup: Uint8Array) => Promise<Found | null>) {
    if (!isUrlToken(urlToken)) throw notFound()
    for (const instanceKey of keyring.keys) {
      const found = await look(lookupOf(urlToken, instanceKey.lookup))
      if (found !== null) return { found, urlToken, instanceKey }
    }
    throw notFound()
  }

  async function getPush(urlToken: string): Promise<ByLink & { push: StoredPush }> {
    const { found: push, ...link } = await find(urlToken, findPush)
    return { push, ...link }
  }

  async function getSealedPush(urlToken: string): Promise<FoundPush> {
    const { found, ...link } = await find(urlToken, findSealedPush)
    return { ...found, ...link }
  }

  return { getPush, getSealedPush }
}

export function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}
