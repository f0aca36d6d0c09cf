// Connects each URL with its handler, and enforces the guards of the API. pages/page-guards.ts enforces those of the pages.

import { describeGuard, OPERATIONS } from '../api/operations.ts'
import type { ApiRoute, PushEndpoints } from '../api/pushes.ts'
import { PREVIOUS_VERSION_OPERATION } from '../api/v1/operations.ts'
import { createPreviousRoutes } from '../api/v1/pushes.ts'
import { presentPreviousVersion, presentVersion, type VersionFacts } from '../api/version.ts'
import type { GetViewer } from '../api/viewer.ts'
import type { Viewer } from '../domain/audit.ts'
import { answerJson, answerText } from '../http/answers.ts'
import type { Asked, Route } from '../http/door/router.ts'
import { API, FILES, PREVIOUS_API } from '../http/urls.ts'
import { createAnswerDocs } from '../pages/docs/docs.tsx'
import type { Assets } from '../pages/frame/assets.ts'
import type { GetGuest } from '../pages/frame/guest.ts'
import type { AnswerGuest } from '../pages/frame/page.tsx'
import { createFormAddressRoutes, createMovedRoutes } from '../pages/moved.ts'

/** Robots Exclusion Protocol (RFC 9309). Pages say the same to robots that follow a link. */
const NOTHING_TO_INDEX = 'User-agent: *\nDisallow: /\n'

export type RouteTableOptions = {
  assets: Assets
  /** The path in --base-url, '' without one. */
  basePath: string
  endpoints: PushEndpoints
  getViewer: GetViewer
  answerDownload: Route['answer']
  /** The pages, each with its guard. */
  pages: readonly Route[]
  version: VersionFacts
  /** Whether the database answers. */
  isAlive: () => Promise<boolean>
  answerReady: Route['answer']
  answerManifest: Route['answer']
  /** The OpenAPI document as JSON text. */
  reference: () => Promise<string>
  /** Draw the page of the reference. */
  answer: AnswerGuest
  getGuest: GetGuest
}

export function createRouteTable(options: RouteTableOptions): Route[] {
  const { assets, basePath, endpoints, getViewer, answerDownload, pages } = options
  const { version, isAlive, answerReady, answerManifest, reference } = options
  const facts = presentVersion(version)
  const previousFacts = presentPreviousVersion(version)
  const { create, retrieve, preview, expire, edit, audit, active, expired } = endpoints
  const guarded: ApiRoute[] = [
    { url: API.create, answer: create, detail: OPERATIONS.create },
    { url: API.retrieve, answer: retrieve, head: preview, detail: OPERATIONS.retrieve },
    { url: API.expire, answer: expire, detail: OPERATIONS.expire },
    { url: API.edit, answer: edit, detail: OPERATIONS.edit },
    { url: API.preview, answer: preview, detail: OPERATIONS.preview },
    { url: API.audit, answer: audit, detail: OPERATIONS.audit },
    { url: API.active, answer: active, detail: OPERATIONS.active },
    { url: API.expired, answer: expired, detail: OPERATIONS.expired },
    ...createPreviousRoutes({ endpoints, limits: version.limits }),
  ]
  const routes: Route[] = [
    { url: API.version, answer: () => answerJson(200, facts), detail: OPERATIONS.version },
    {
      url: PREVIOUS_API.version,
      answer: () => answerJson(200, previousFacts),
      detail: PREVIOUS_VERSION_OPERATION,
    },
    { url: API.reference, answer: async () => answerJson(200, JSON.parse(await reference())) },
    { url: API.docs, answer: createAnswerDocs(options) },
    { url: FILES.download, answer: answerDownload },
    { url: FILES.asset, answer: assets.answer },
    { url: FILES.favicon, answer: assets.answerFavicon },
    { url: FILES.manifest, answer: answerManifest },
    { url: FILES.robots, answer: () => answerText(200, NOTHING_TO_INDEX) },
    { url: FILES.up, answer: async () => answerUp(await isAlive()) },
    { url: FILES.ready, answer: answerReady },
    ...guarded.map((route) => withViewer(route, getViewer)),
    ...createMovedRoutes(basePath),
    ...createFormAddressRoutes(basePath),
    ...pages,
  ]
  return routes.map((route) => withGuard(route, version))
}

/** The reference names the tokens that a route asks for. */
function withGuard(route: Route, { anonymousAccess }: VersionFacts): Route {
  const { detail, url } = route
  if (detail === undefined) return route
  return { ...route, detail: describeGuard({ detail, guard: url.guard, anonymousAccess }) }
}

function withViewer({ url, answer, head = answer, ...rest }: ApiRoute, getViewer: GetViewer): Route {
  const identified =
    (respond: ApiRoute['answer']) =>
    ({ exchange, params }: Asked) => {
      const answerTo = (viewer: Viewer) => respond({ exchange, params, viewer })
      const viewer = getViewer(exchange, url.guard)
      return viewer instanceof Promise ? viewer.then(answerTo) : answerTo(viewer)
    }
  return { url, answer: identified(answer), head: identified(head), ...rest }
}

function answerUp(up: boolean): Response {
  return answerJson(up ? 200 : 503, { up })
}
