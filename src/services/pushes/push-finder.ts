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

  /** Every place where the push of this link may be stored: one for each instance key. */
  function lookupsOf(urlToken: string): { instanceKey: InstanceKey; lookup: Buffer }[] {
    if (!isUrlToken(urlToken)) throw notFound()
    return keyring.keys.map((instanceKey) => ({
      instanceKey,
      lookup: lookupOf(urlToken, instanceKey.lookup),
    }))
  }

  async function getPush(urlToken: string): Promise<ByLink & { push: StoredPush }> {
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const push = await findPush(lookup)
      if (push !== null) return { push, urlToken, instanceKey }
    }
    throw notFound()
  }

  async function getSealedPush(urlToken: string): Promise<FoundPush> {
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const found = await findSealedPush(lookup)
      if (found !== null) return { push: found.push, sealed: found.sealed, urlToken, instanceKey }
    }
    throw notFound()
  }

  return { lookupsOf, getPush, getSealedPush }
}

export function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}
