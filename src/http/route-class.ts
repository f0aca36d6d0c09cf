// Classes of requests for the metrics. Never a path, which may be a link.

import { API, FILES, PAGES, PREVIOUS_FAMILIES, routeKey } from './urls.ts'

/** Returns the class of a request from its method and the pattern of its route. */
type RouteClassOf = (asked: { method: string; route: string }) => string

const PREVIOUS = Object.values(PREVIOUS_FAMILIES)

const CLASSES = {
  create: [API.create, ...PREVIOUS.map(({ create }) => create), PAGES.submitCreate, PAGES.submitAnswer],
  retrieve: [API.retrieve, ...PREVIOUS.map(({ retrieve }) => retrieve), PAGES.reveal, PAGES.revealStep],
  // Long polling, whose answers wait for the next event.
  events: [API.events],
  download: [FILES.download],
  asset: [FILES.asset, FILES.favicon, FILES.touchIcon, FILES.robots],
  health: [FILES.up, FILES.ready],
}
const BY_ROUTE = new Map(
  Object.entries(CLASSES).flatMap(([name, urls]) => urls.map((url) => [routeKey(url), name] as const)),
)

export const routeClassOf: RouteClassOf = ({ method, route }) => {
  const known = BY_ROUTE.get(routeKey({ method, path: route }))
  if (known !== undefined) return known
  if (route === '-') return 'none'
  return /^\/api\/(v\d|oncebox)\/|\.json$/.test(route) ? 'api' : 'page'
}
