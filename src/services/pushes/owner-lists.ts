// An owner's lists: a page of their pushes with names and notes, and those that hold some words.

import { findKey, type InstanceKey, type Keyring } from '../../crypto/keyring.ts'
import type { Account } from '../../domain/account.ts'
import { PAGE_SIZE } from '../../domain/audit.ts'
import { foldedWords, foldForSearch } from '../../domain/fold.ts'
import type { Push } from '../../domain/push.ts'
import type { ListedPush, PageOfPushes, Store } from '../../store/face.ts'
import { keepIntact } from '../damage.ts'
import { openLabels } from './labels.ts'

/** A push with the token of its link, which only the caller and the owner ever hold. */
export type Addressed = { push: Push; urlToken: string }

export type Labelled = Addressed & { name: string; note: string }

export type ListOptions = { expired: boolean; pageNumber: number }

/** As many as a search opens at most: 10,000 pushes. */
const MAX_SEARCHED_PAGES = 200

type Options = { store: Pick<Store, 'lists' | 'expiry' | 'damage'>; keyring: Keyring }

export function createOwnerLists({ store, keyring }: Options) {
  /** Newest first. What ran out of time is moved to the expired ones before anybody looks. */
  async function list(
    account: Account,
    { expired, pageNumber }: ListOptions,
  ): Promise<PageOfPushes<Labelled>> {
    await store.expiry.expireLapsedOf(account.id)
    const page = await store.lists.listPushes({ ownerId: account.id, expired, pageNumber })
    const pushes = await keepIntact(page.pushes, { open: label, tell: store.damage.tell })
    return { ...page, pushes, damaged: page.damaged + page.pushes.length - pushes.length }
  }

  function label({ push, labels }: ListedPush): Labelled {
    const place = { instanceKey: getKey(push.keyNumber), pushId: push.lookup, pushName: nameOf(push) }
    return { push, ...openLabels(labels, place) }
  }

  /**
   * One page of those whose name or note holds the words, whatever their case and accents, newest first. Names are
   * sealed, so each is opened to be looked at, a page at a time, with room for other requests between.
   */
  async function search(
    account: Account,
    { expired, pageNumber, query }: ListOptions & { query: string },
  ): Promise<PageOfPushes<Labelled>> {
    const words = foldedWords(query)
    const fits = ({ name, note }: Labelled) => {
      const text = foldForSearch(`${name} ${note}`)
      return words.length > 0 && words.every((word) => text.includes(word))
    }
    const found: Labelled[] = []
    let damaged = 0
    for (let page = 1; page <= MAX_SEARCHED_PAGES && found.length <= pageNumber * PAGE_SIZE; page += 1) {
      const listed = await list(account, { expired, pageNumber: page })
      found.push(...listed.pushes.filter(fits))
      damaged += listed.damaged
      if (!listed.isFull) break
      await new Promise((resolve) => setImmediate(resolve))
    }
    const pushes = found.slice((pageNumber - 1) * PAGE_SIZE, pageNumber * PAGE_SIZE)
    return { pushes, damaged, isFull: pushes.length === PAGE_SIZE }
  }

  function getKey(number: number): InstanceKey {
    const key = findKey(keyring, number)
    if (key === null) throw new Error(`a push names key ${number}, which the key file does not hold`)
    return key
  }

  return { list, search }
}

/** As the operator is told of a push that is damaged. */
export function nameOf({ id }: { id: number }): string {
  return `push ${id}`
}
