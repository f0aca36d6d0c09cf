// An owner's view of the list as the query of a URL: list, filters, sort order, search and page.

import { PUSH_LISTS, PUSH_SORTS, PUSH_STATES, type PushList, type PushState } from '../../domain/listing.ts'
import { PUSH_KINDS } from '../../domain/push.ts'
import { PAGES } from '../../http/urls.ts'
import type { OverviewOptions } from '../../pushes/owner-lists.ts'

export type ListQuery = OverviewOptions

const MAX_QUERY_CHARACTERS = 200

/**
 * Reads an invalid value as the default. A search without a list covers all pushes, as do some
 * states.
 */
export function readListQuery(parameters: URLSearchParams): ListQuery {
  const given = (name: string) => parameters.get(name) ?? ''
  const query = given('q').trim().slice(0, MAX_QUERY_CHARACTERS)
  const state = oneOf(PUSH_STATES, given('state'))
  return {
    list: oneOf(PUSH_LISTS, given('show')) ?? defaultList({ query, state }),
    kind: oneOf(PUSH_KINDS, given('kind')),
    state,
    sort: oneOf(PUSH_SORTS, given('sort')) ?? 'newest',
    query,
    pageNumber: numberIn(given('page'), /^[1-9]\d{0,5}$/) ?? 1,
    until: numberIn(given('until'), /^\d{1,15}$/),
  }
}

/** States of pushes that may be under any tab. */
const ANYWHERE: ReadonlySet<PushState> = new Set(['received', 'unseen', 'lost'])

function defaultList({ query, state }: Pick<ListQuery, 'query' | 'state'>): PushList {
  return query !== '' || (state !== null && ANYWHERE.has(state)) ? 'all' : 'active'
}

function oneOf<T extends string>(known: readonly T[], given: string): T | null {
  return known.find((one) => one === given) ?? null
}

function numberIn(text: string, pattern: RegExp): number | null {
  return pattern.test(text) ? Number(text) : null
}

/** Returns the path of the list. Its query contains only values that differ from the default. */
export function listHref({ list, kind, state, sort, query, pageNumber, until }: ListQuery): string {
  const isDefaultList = list === defaultList({ query, state })
  const fields: [string, string | number | null][] = [
    ['show', isDefaultList ? null : list],
    ['q', query || null],
    ['kind', kind],
    ['state', state],
    ['sort', sort === 'newest' ? null : sort],
    ['page', pageNumber === 1 ? null : pageNumber],
    ['until', pageNumber === 1 ? null : until],
  ]
  const given = fields.flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
  return given.length === 0 ? PAGES.pushes.href() : `${PAGES.pushes.href()}?${new URLSearchParams(given)}`
}

export function isFiltered({ kind, state, query }: ListQuery): boolean {
  return kind !== null || state !== null || query !== ''
}
