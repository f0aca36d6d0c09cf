// Filters and sorts an owner's pushes.

import type { Push, PushKind } from './push.ts'
import { DAY } from './time.ts'

export type PushCounts = { live: number; expired: number }

/** The number of pushes under each tab. */
export type TabCounts = Record<ListTab, number>

/** The facts that lists filter and sort by; `seenViews` is the number of views when the owner last looked. */
export type PushFacts = Pick<
  Push,
  | 'kind'
  | 'createdAt'
  | 'expiresAt'
  | 'expireAfterViews'
  | 'views'
  | 'lastViewedAt'
  | 'expiredOn'
  | 'lost'
  | 'isNew'
> & { id: number; seenViews: number; isReceived: boolean }

/** Each push is shown under exactly one tab. */
export const LIST_TABS = ['active', 'new', 'expired'] as const
export const PUSH_LISTS = [...LIST_TABS, 'all'] as const
/**
 * received: an answer to a request. waiting: not opened yet. ending: about to expire. unseen: changed since
 * the owner last looked. lost: expired by a restore.
 */
export const PUSH_STATES = ['received', 'waiting', 'opened', 'ending', 'unseen', 'lost'] as const
export const PUSH_SORTS = ['newest', 'oldest', 'ending', 'opened', 'name'] as const

export type ListTab = (typeof LIST_TABS)[number]
export type PushList = (typeof PUSH_LISTS)[number]
export type PushState = (typeof PUSH_STATES)[number]
export type PushSort = (typeof PUSH_SORTS)[number]

export type PushFilter = { kind: PushKind | null; state: PushState | null; until: number | null }

/** Smaller than a page of the API, because a row of the pages shows more. */
export const LIST_PAGE_SIZE = 25

/** The navigation counts at most this many unseen pushes, and shows the maximum as “9+”. */
export const MOST_UNSEEN = 10

/**
 * Whether a push passes a filter. A null filter accepts every push; `until` accepts those created at or
 * before that time.
 */
export function fitsFilter(facts: PushFacts, { kind, state, until }: PushFilter, now: number): boolean {
  if (kind !== null && facts.kind !== kind) return false
  if (until !== null && facts.createdAt > until) return false
  return state === null || IN_STATE[state](facts, now)
}

const IN_STATE: Record<PushState, (facts: PushFacts, now: number) => boolean> = {
  received: ({ isReceived }) => isReceived,
  waiting: ({ views, expiredOn, isReceived }) => views === 0 && expiredOn === null && !isReceived,
  opened: ({ views }) => views > 0,
  ending: (facts, now) => facts.expiredOn === null && isEnding(facts, now),
  unseen: (facts) => isUnseen(facts),
  lost: ({ lost }) => lost,
}

/** Whether a push arrived, ended, or was opened while live since its owner last looked at it. */
export function isUnseen(push: Pick<PushFacts, 'isNew' | 'expiredOn' | 'views' | 'seenViews'>): boolean {
  return push.isNew || (push.expiredOn === null && push.views > push.seenViews)
}

/** Whether all allowed views of a push were used, so that it ended by doing its job. */
export function isUsedUp(push: Pick<PushFacts, 'views' | 'expireAfterViews' | 'lost'>) {
  const { views, expireAfterViews, lost } = push
  return views >= expireAfterViews && !lost
}

/**
 * Whether a live push has only its last view left after earlier ones, or less than a day of a lifetime of
 * several days.
 */
export function isEnding(push: Pick<Push, keyof PushFacts & keyof Push>, now: number): boolean {
  const { views, expireAfterViews, expiresAt, createdAt } = push
  const isLastView = views > 0 && expireAfterViews - views === 1
  return isLastView || (expiresAt - now < DAY && expiresAt - createdAt > DAY)
}

/**
 * Returns a comparison for `Array.sort`. Calls `nameOf` only to sort by name; pushes without a name come
 * last.
 */
export function comparePushes(sort: PushSort, nameOf: (facts: PushFacts) => string): Compare {
  const newest: Compare = (one, other) => other.createdAt - one.createdAt || other.id - one.id
  const by: Record<PushSort, Compare> = {
    newest,
    oldest: (one, other) => -newest(one, other),
    ending: (one, other) => compareEnds(one, other) || newest(one, other),
    opened: (one, other) => other.lastViewedAt - one.lastViewedAt || newest(one, other),
    name: (one, other) => compareNames(nameOf(one), nameOf(other)) || newest(one, other),
  }
  return by[sort]
}

type Compare = (one: PushFacts, other: PushFacts) => number

/** Puts live pushes first, the next to expire at the top; then expired ones, the latest at the top. */
function compareEnds(one: PushFacts, other: PushFacts): number {
  if (one.expiredOn === null || other.expiredOn === null) {
    const both = one.expiredOn === other.expiredOn
    return both ? one.expiresAt - other.expiresAt : one.expiredOn === null ? -1 : 1
  }
  return other.expiredOn - one.expiredOn
}

function compareNames(one: string, other: string): number {
  if (one === other) return 0
  if (one === '' || other === '') return one === '' ? 1 : -1
  return one < other ? -1 : 1
}
