// Makes the routes of a server: the API, the pages and the assets.

import type { Now } from '../domain/time.ts'
import { createAnswerDownload } from '../http/api/downloads.ts'
import { createPushEndpoints } from '../http/api/pushes.ts'
import { createReference } from '../http/api/reference.ts'
import type { PresentError } from '../http/door/errors.ts'
import { createRouter } from '../http/door/router.ts'
import { createGetViewer } from '../http/door/viewer.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import type { SettingInEffect } from '../http/pages/admin/admin-parts.tsx'
import type { Assets } from '../http/pages/frame/assets.ts'
import type { GetGuest } from '../http/pages/frame/guest.ts'
import type { AnswerGuest } from '../http/pages/frame/page.tsx'
import { createPageRoutes } from '../http/pages/page-routes.ts'
import { createPages } from '../http/pages/pages.ts'
import { createRouteTable } from '../http/routes.ts'
import type { Log } from '../operating/log.ts'
import type { Config } from '../settings/table.ts'
import type { Services } from './services.ts'

export type RoutesOptions = {
  config: Pick<Config, 'anonymousAccess' | 'signups'>
  settings: readonly SettingInEffect[]
  version: string
  services: Services
  store: { now: Now; isAlive: () => Promise<boolean> }
  log: Log
  assets: Assets
  basePath: string
  body: BodyLimits
  answer: AnswerGuest
  getGuest: GetGuest
  presentError: PresentError
  listUndeclaredProxies: () => string[]
}

export function createRoutes(options: RoutesOptions) {
  const { config, services, store, log, assets, basePath, body, version } = options
  const { anonymousAccess, signups } = config
  const { now, isAlive } = store
  const pages = createPages({
    ...services,
    answer: options.answer,
    wordlist: assets.hrefOf('wordlist'),
    body,
    now,
    listJobs: services.jobs.list,
    settings: options.settings,
    anonymousAccess,
    signups,
    listUndeclaredProxies: options.listUndeclaredProxies,
  })
  const getViewer = createGetViewer({
    authenticate: services.apiTokens.authenticate,
    anonymousAccess,
    onError: (err) => log.error({ err }, 'the last use of an API token was not noted'),
  })
  const routes = createRouteTable({
    assets,
    basePath,
    getViewer,
    endpoints: createPushEndpoints({ ...services, body, now }),
    answerDownload: createAnswerDownload(services.downloads),
    pages: createPageRoutes({ pages, getGuest: options.getGuest, anonymousAccess }),
    version: { applicationVersion: version, anonymousAccess, limits: services.limits },
    isAlive,
    reference: createReference({ routes: () => router.app, limits: services.limits, version }),
  })
  const router = createRouter({ routes, presentError: options.presentError })
  return router
}
