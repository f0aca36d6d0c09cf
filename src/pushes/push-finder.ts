// Finds a push by the token of its link, whichever instance key it was sealed under.

import type { InstanceKey, Keyring } from '../crypto/keyring.ts'
import { isShortUrlToken, isUrlToken, lookupOf } from '../crypto/url-token.ts'
import type { Account } from '../domain/account.ts'
import type { Viewer, Visit } from '../domain/audit.ts'
import { DomainError, notFound } from '../domain/errors.ts'
import { isOwner } from '../domain/push.ts'
import type { Store } from '../store/contract.ts'
import type { SealedPush, StoredPush } from '../store/pushes-contract.ts'
import type { ShortTokens } from './limits.ts'

export type PushFinder = ReturnType<typeof createPushFinder>

/** The link's token, and the instance key of the push. */
type ByLink = { urlToken: string; instanceKey: InstanceKey }

/** A push found by its link, with its sealed content. */
export type FoundPush = ByLink & SealedPush

type Options = { store: Pick<Store, 'pushes'>; keyring: Keyring; shortTokens: ShortTokens }

/**
 * Finds pushes by the token in their link. Every function throws `not_found` for a malformed or unknown
 * token. With a visit, it also throws `too_many` after too many misses. Throws `overloaded` if a push is not
 * found but could be sealed under a key that this process lacks. A caller without a visit must reveal only to
 * the owner whether the push exists.
 */
export function createPushFinder({ store, keyring, shortTokens }: Options) {
  const { findPush, findSealedPush } = store.pushes

  /** Returns the lookups under which the push of this link may be stored, one for each instance key. */
  function lookupsOf(urlToken: string): { instanceKey: InstanceKey; lookup: Buffer }[] {
    if (!isUrlToken(urlToken)) throw notFound()
    return keyring.keys.map((instanceKey) => ({
      instanceKey,
      lookup: lookupOf(urlToken, instanceKey.lookup),
    }))
  }

  async function getPush(urlToken: string, visit: Visit | null): Promise<ByLink & { push: StoredPush }> {
    if (visit !== null) shortTokens.requireTries(urlToken, visit)
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const push = await findPush(lookup)
      if (push !== null) return { push, urlToken, instanceKey }
    }
    throw miss(urlToken, visit)
  }

  /**
   * Returns a push to its owner. Throws `forbidden` for anyone else; the message says what only the owner may
   * do.
   */
  async function getOwn(urlToken: string, { account, visit }: Viewer, what: string) {
    const { push } = await getPush(urlToken, visit)
    if (account !== null && isOwner(push, account)) return { push, account }
    throw new DomainError('forbidden', `Only the owner of this push may ${what}.`)
  }

  /** Returns a push to its owner. Throws `not_found` for anyone else, which hides that it exists. */
  async function getOwnPush(urlToken: string, account: Account | null): Promise<StoredPush> {
    const { push } = await getPush(urlToken, null)
    if (!isOwner(push, account)) throw notFound()
    return push
  }

  async function getSealedPush(urlToken: string, visit: Visit | null): Promise<FoundPush> {
    if (visit !== null) shortTokens.requireTries(urlToken, visit)
    for (const { instanceKey, lookup } of lookupsOf(urlToken)) {
      const found = await findSealedPush(lookup)
      if (found !== null) return { push: found.push, sealed: found.sealed, urlToken, instanceKey }
    }
    throw miss(urlToken, visit)
  }

  function miss(urlToken: string, visit: Visit | null): DomainError {
    if (visit !== null) shortTokens.countMiss(urlToken, visit)
    return notFound()
  }

  /**
   * Counts misses for searches that do not count them. Rejects if a short token does not exist. Returns null
   * for a token of full length.
   */
  function requireShort(urlToken: string, visit: Visit): Promise<unknown> | null {
    return isShortUrlToken(urlToken) ? getPush(urlToken, visit) : null
  }

  return { lookupsOf, getPush, getOwn, getOwnPush, getSealedPush, requireShort }
}
