// The few kinds of requests that metrics tell apart: never a path, which may be a link.

import { API, FILES, PAGES, PREVIOUS_FAMILIES } from './urls.ts'

/** A word for the kind of a request, from its method and the pattern of its route. */
export type RouteClassOf = (asked: { method: string; route: string }) => string

const CREATES = [API.create, ...Object.values(PREVIOUS_FAMILIES).map(({ create }) => create)]
const RETRIEVES = [API.retrieve, ...Object.values(PREVIOUS_FAMILIES).map(({ retrieve }) => retrieve)]

const BY_ROUTE = new Map<string, string>([
  ...CREATES.map((url) => [keyOf(url), 'create'] as const),
  ...RETRIEVES.map((url) => [keyOf(url), 'retrieve'] as const),
  [keyOf(PAGES.submitCreate), 'create'],
  [keyOf(PAGES.submitAnswer), 'create'],
  [keyOf(PAGES.reveal), 'retrieve'],
  [keyOf(PAGES.revealStep), 'retrieve'],
  // Their answers wait for the next event.
  [keyOf(API.events), 'events'],
  [keyOf(FILES.download), 'download'],
  [keyOf(FILES.asset), 'asset'],
  [keyOf(FILES.favicon), 'asset'],
  [keyOf(FILES.touchIcon), 'asset'],
  [keyOf(FILES.robots), 'asset'],
  [keyOf(FILES.up), 'health'],
  [keyOf(FILES.ready), 'health'],
])

function keyOf({ method, path }: { method: string; route?: string; path: string }): string {
  return `${method} ${path}`
}

export const routeClassOf: RouteClassOf = ({ method, route }) => {
  const known = BY_ROUTE.get(keyOf({ method, path: route }))
  if (known !== undefined) return known
  if (route === '-') return 'none'
  return /^\/api\/(v\d|oncebox)\/|\.json$/.test(route) ? 'api' : 'page'
}
