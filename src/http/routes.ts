// Every URL of this server on one page, grouped by who may enter.

import { OPERATIONS } from './api/operations.ts'
import type { PushEndpoints } from './api/pushes.ts'
import { PREVIOUS_VERSION_OPERATION } from './api/v1/operations.ts'
import { createPreviousRoutes } from './api/v1/pushes.ts'
import { presentPreviousVersion } from './api/v1/version.ts'
import { presentVersion, type VersionFacts } from './api/version.ts'
import { answerJson, answerText } from './door/answers.ts'
import type { Route } from './door/router.ts'
import { createAnswerDocs } from './pages/docs.tsx'
import type { Assets } from './pages/frame/assets.ts'
import { createMovedRoutes } from './pages/moved.ts'

/** Robots Exclusion Protocol (RFC 9309). Pages say so as well, to robots that come by a link. */
const NOTHING_TO_INDEX = 'User-agent: *\nDisallow: /\n'

export type RouteTableOptions = {
  assets: Assets
  /** The path in --base-url, '' without one. */
  basePath: string
  endpoints: PushEndpoints
  answerDownload: Route['answer']
  /** The pages, each with its guard. */
  pages: readonly Route[]
  version: VersionFacts
  /** Whether the database answers. */
  isAlive: () => boolean
  /** The OpenAPI document as JSON text. */
  reference: () => Promise<string>
}

export function createRouteTable(options: RouteTableOptions): Route[] {
  const { assets, basePath, endpoints, answerDownload, pages, version, isAlive, reference } = options
  const facts = presentVersion(version)
  const previousFacts = presentPreviousVersion(version)
  return [
    // Open to everybody: tokens are not even looked at.
    get('/api/v2/version', 'open', () => answerJson(200, facts), OPERATIONS.version),
    get('/api/v2/openapi.json', 'open', async () => answerJson(200, JSON.parse(await reference()))),
    get('/api/v2/docs', 'open', createAnswerDocs(assets, basePath)),
    get('/d/:grant', 'open', answerDownload),
    get('/assets/:name', 'open', assets.answer),
    get('/favicon.ico', 'open', assets.answerFavicon),
    get('/robots.txt', 'open', () => answerText(NOTHING_TO_INDEX)),
    get('/api/v1/version', 'open', () => answerJson(200, previousFacts), PREVIOUS_VERSION_OPERATION),
    ...createMovedRoutes(basePath),
    get('/up', 'open', () => answerUp(isAlive())),

    // For visitors, unless the instance asks everybody for a token.
    {
      method: 'POST',
      path: '/api/v2/pushes',
      access: 'visitor',
      answer: endpoints.create,
      detail: OPERATIONS.create,
    },
    {
      ...get('/api/v2/pushes/:url_token', 'visitor', endpoints.retrieve, OPERATIONS.retrieve),
      head: endpoints.preview,
    },
    {
      method: 'DELETE',
      path: '/api/v2/pushes/:url_token',
      access: 'visitor',
      answer: endpoints.expire,
      detail: OPERATIONS.expire,
    },
    get('/api/v2/pushes/:url_token/preview', 'visitor', endpoints.preview, OPERATIONS.preview),

    // For accounts.
    get('/api/v2/pushes/:url_token/audit', 'account', endpoints.audit, OPERATIONS.audit),
    get('/api/v2/pushes/active', 'account', endpoints.active, OPERATIONS.active),
    get('/api/v2/pushes/expired', 'account', endpoints.expired, OPERATIONS.expired),

    // Pages: web/page-routes.ts has them by who may enter.
    ...pages,

    // The previous version: /p.json, /f.json and /r.json with all that follows, for those who may enter above.
    ...createPreviousRoutes({ endpoints, limits: version.limits }),
  ]
}

function answerUp(up: boolean): Response {
  return answerJson(up ? 200 : 503, { up })
}

function get(path: string, access: Route['access'], answer: Route['answer'], detail?: object): Route {
  return { method: 'GET', path, access, answer, ...(detail === undefined ? {} : { detail }) }
}
