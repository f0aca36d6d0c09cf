// Finds a push by the token of its link, under whichever instance key it was made.

import type { InstanceKey, Keyring } from '../../crypto/keyring.ts'
import { isUrlToken, lookupOf } from '../../crypto/url-token.ts'
import { DomainError } from '../../domain/errors.ts'
import type { StoredPush } from '../../store/sqlite/pushes/pushes.ts'
import type { Store } from '../../store/store.ts'

export type PushFinder = ReturnType<typeof createPushFinder>

/** Every function throws `not_found` when there is no such push, or no such token could be. */
export function createPushFinder({ store, keyring }: { store: Pick<Store, 'pushes'>; keyring: Keyring }) {
  type Found = { push: StoredPush; urlToken: string; instanceKey: InstanceKey }

  function getPush(urlToken: string): Found {
    return lookUp(urlToken, (lookup) => {
      const push = store.pushes.findPush(lookup)
      return push === null ? null : { push }
    })
  }

  function lookUp<T>(urlToken: string, find: (lookup: Uint8Array) => T | null) {
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const found = find(lookup)
      if (found !== null) return { ...found, urlToken, instanceKey }
    }
    throw notFound()
  }

  /** Where a push may be found, under whichever key of the file it was made. */
  function lookupsOf(urlToken: string): { instanceKey: InstanceKey; lookup: Buffer }[] {
    if (!isUrlToken(urlToken)) throw notFound()
    return keyring.keys.map((instanceKey) => ({
      instanceKey,
      lookup: lookupOf(urlToken, instanceKey.lookup),
    }))
  }

  return { getPush, lookUp, lookupsOf }
}

export function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}
