// An owner's lists: a page of their pushes with names and notes, filtered, sorted and searched.

import type { Keyring } from '../crypto/keyring.ts'
import type { Account } from '../domain/account.ts'
import { PAGE_SIZE } from '../domain/audit.ts'
import { keepIntact } from '../domain/damage.ts'
import {
  comparePushes,
  fitsFilter,
  isUnseen,
  LIST_PAGE_SIZE,
  type ListTab,
  type PushFacts,
  type PushFilter,
  type PushList,
  type PushSort,
  type TabCounts,
} from '../domain/listing.ts'
import type { Push } from '../domain/push.ts'
import type { Now } from '../domain/time.ts'
import type { Store } from '../store/contract.ts'
import type { ListedPush, SealedTexts, StoredPush } from '../store/pushes-contract.ts'
import { foldedWords, foldForSearch } from '../text/fold.ts'
import { openLabels, openTexts, placeOfPush } from './labels.ts'

/** A push with the token of its link, which the server does not store in the clear. */
export type LinkedPush = { push: Push; urlToken: string }

/** A push with its labels; `request` is as in `Labels`. */
export type LabelledPush = LinkedPush & { name: string; note: string; request: string | null }

/** The page of a list. `beforeId`: only pushes that are older than this one. */
export type ListOptions = { expired: boolean; pageNumber: number; beforeId?: number | null }

/**
 * A page of a list. `damaged`: the number of pushes that cannot be shown. After a full page there may be
 * another one.
 */
export type PageOfPushes<T> = { pushes: T[]; damaged: number; isFull: boolean }

/** A push in the overview. `isUnseen`: arrived, ended or opened since its owner last looked. */
export type OverviewPush = LabelledPush & {
  push: StoredPush
  isUnseen: boolean
  readAt: number | null
  fileBytes: number
}

/**
 * Returns when the owner first read an answer: on the pages (`lookedAt`), or by its link. 0 if the time is
 * unknown; null if it was not read.
 */
export function readTime({ lastViewedAt }: Push, lookedAt: number | null): number | null {
  return lookedAt ?? (lastViewedAt === 0 ? null : lastViewedAt)
}

export type OverviewOptions = PushFilter & {
  list: PushList
  sort: PushSort
  /** Words that the name or note must contain, ignoring case and accents. */
  query: string
  pageNumber: number
}

export type Overview = {
  pushes: OverviewPush[]
  /** Pushes that cannot be shown. */
  damaged: number
  /** The number of pushes that pass the filter. */
  matching: number
  counts: TabCounts
  /** Whether older pushes were not searched, because there are too many. */
  isCut: boolean
}

/** The most pushes that a search or sort reads of each list. */
const MAX_LOOKED_THROUGH = 20_000

type Options = { store: Pick<Store, 'lists' | 'expiry' | 'damage'>; keyring: Keyring; now: Now }

export function createOwnerLists({ store, keyring, now }: Options) {
  /** Lists pushes, newest first. Expires those past their time before it reads. */
  async function list(
    account: Account,
    { expired, pageNumber, beforeId = null }: ListOptions,
  ): Promise<PageOfPushes<OverviewPush>> {
    await store.expiry.expireLapsedOf(account.id)
    return present(await store.lists.listPushes({ ownerId: account.id, expired, pageNumber, beforeId }))
  }

  async function present(
    listed: readonly ListedPush[],
    pageSize = PAGE_SIZE,
  ): Promise<PageOfPushes<OverviewPush>> {
    const pushes = await keepIntact(listed, { open: label, report: store.damage.report })
    return { pushes, damaged: listed.length - pushes.length, isFull: listed.length === pageSize }
  }

  function label({ push, labels, seenViews, readAt, fileBytes }: ListedPush): OverviewPush {
    const opened = openLabels(labels, placeOfPush(push, keyring))
    const read = readTime(push, readAt)
    return { push, ...opened, isUnseen: isUnseen({ ...push, seenViews }), readAt: read, fileBytes }
  }

  /** Lists the answers to a request that are not purged yet, newest first. */
  async function listAnswers({ id, urlToken }: { id: number; urlToken: string }, account: Account) {
    const { pushes } = await present(await store.lists.listAnswers({ id, ownerId: account.id }))
    return pushes.filter(({ request }) => request === urlToken)
  }

  /** Resolves to the page that the options describe, and the counts of the whole. */
  async function overview(account: Account, options: OverviewOptions): Promise<Overview> {
    await store.expiry.expireLapsedOf(account.id)
    const counts = await store.lists.countOwned(account.id)
    const { list } = options
    if (list === 'all' || !isPlain(options)) return { ...(await lookThrough(account, options)), counts }
    const page = await pageOf(account.id, list, options)
    return { ...page, matching: counts[list], isCut: false, counts }
  }

  /** Reads the page straight from the index, however many pushes there are. */
  async function pageOf(ownerId: number, list: ListTab, options: OverviewOptions) {
    const page = { ownerId, list, pageSize: LIST_PAGE_SIZE }
    return present(await store.lists.listTab({ ...options, ...page }), LIST_PAGE_SIZE)
  }

  async function lookThrough(account: Account, options: OverviewOptions) {
    const { list, sort, query, pageNumber } = options
    const live = list === 'expired' ? NOTHING : await collect(account.id, false, options)
    const expired = list === 'active' ? NOTHING : await collect(account.id, true, options)
    const filtered = [...live.facts, ...expired.facts]
    const words = foldedWords(query)
    const needsTexts = words.length > 0 || sort === 'name'
    const { names, damaged } = needsTexts ? await search(filtered, words) : NO_NAMES
    const matching = words.length === 0 ? filtered : filtered.filter(({ id }) => names.has(id))
    matching.sort(comparePushes(sort, ({ id }) => names.get(id) ?? ''))
    const shown = matching
      .slice((pageNumber - 1) * LIST_PAGE_SIZE, pageNumber * LIST_PAGE_SIZE)
      .map(({ id }) => id)
    const page = await present(await store.lists.listByIds({ ownerId: account.id, ids: shown }))
    const isCut = live.isCut || expired.isCut
    return { ...page, damaged: Math.max(page.damaged, damaged), matching: matching.length, isCut }
  }

  /** Resolves to the folded names of the pushes that contain all words, and the number of damaged ones. */
  async function search(pushes: PushFacts[], words: readonly string[]) {
    const ids = pushes.map(({ id }) => id)
    const open = (sealed: SealedTexts) => openTexts(sealed, placeOfPush(sealed, keyring))
    const names = new Map<number, string>()
    let damaged = pushes.length
    for await (const { id, name, note } of readFolded(ids, { store, open })) {
      damaged -= 1
      if (words.every((word) => name.includes(word) || note.includes(word))) names.set(id, name)
    }
    return { names, damaged }
  }

  async function collect(ownerId: number, expired: boolean, filter: OverviewOptions) {
    const { list } = filter
    const isListed = ({ isNew }: PushFacts) => list === 'all' || isNew === (list === 'new')
    const facts: PushFacts[] = []
    let seen = 0
    for await (const piece of store.lists.readFacts({ ownerId, expired })) {
      facts.push(...piece.filter((one) => isListed(one) && fitsFilter(one, filter, now())))
      seen += piece.length
      if (seen >= MAX_LOOKED_THROUGH) return { facts, isCut: true }
    }
    return { facts, isCut: false }
  }

  /** Whether there is a push of this account, active or expired. */
  async function hasOwned({ id }: Account): Promise<boolean> {
    const counts = await store.lists.countOwned(id)
    return counts.active + counts.new + counts.expired > 0
  }

  return { list, overview, listAnswers, hasOwned }
}

const NO_NAMES = { names: new Map<number, string>(), damaged: 0 }
const NOTHING: { facts: PushFacts[]; isCut: boolean } = { facts: [], isCut: false }

function isPlain({ sort, query, kind, state }: OverviewOptions): boolean {
  return sort === 'newest' && kind === null && state === null && foldedWords(query).length === 0
}

/** The texts of a push, folded for a search; '' if missing. */
export type FoldedTexts = { id: number; name: string; note: string }

/** How many pushes are read at once. */
const PIECE = 200
/** Bytes that are searched before other requests get their turn, in however many notes: at most 10 ms. */
const SLICE = 50_000
/** Counts reading a push as if it were folding this many bytes. */
const READ_BYTES = 200

type TextReader = {
  store: Pick<Store, 'lists' | 'damage'>
  /** Throws DamageError. */
  open: (sealed: SealedTexts) => { name: string; note: string }
}

/** Yields the folded texts of these pushes, opened in batches. Reports damaged ones and skips them. */
export async function* readFolded(
  ids: readonly number[],
  { store, open }: TextReader,
): AsyncGenerator<FoldedTexts> {
  let left = SLICE

  async function fold(sealed: SealedTexts): Promise<FoldedTexts> {
    const { name, note } = open(sealed)
    left -= READ_BYTES + (sealed.name?.length ?? 0) + (sealed.note?.length ?? 0)
    if (left <= 0) {
      await new Promise((resolve) => setImmediate(resolve))
      left = SLICE
    }
    return { id: sealed.id, name: foldForSearch(name), note: foldForSearch(note) }
  }

  for (let from = 0; from < ids.length; from += PIECE) {
    const sealed = await store.lists.readTexts(ids.slice(from, from + PIECE))
    yield* await keepIntact(sealed, { open: fold, report: store.damage.report })
  }
}
