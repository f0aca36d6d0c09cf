// Makes the routes of a server: the API, the pages and the assets.

import { createAnswerDownload } from '../api/downloads.ts'
import { createPushEndpoints } from '../api/pushes.ts'
import { createReference } from '../api/reference.ts'
import { createGetViewer } from '../api/viewer.ts'
import type { Backups } from '../backup/backups.ts'
import type { Now } from '../domain/time.ts'
import type { PresentError } from '../http/door/errors.ts'
import { createRouter, type Route } from '../http/door/router.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import type { Authority } from '../lan/certificate.ts'
import type { LookAtHealth } from '../operating/health.ts'
import type { Log } from '../operating/log.ts'
import type { SettingInEffect } from '../pages/admin/settings.tsx'
import type { Assets } from '../pages/frame/assets.ts'
import type { GetGuest } from '../pages/frame/guest.ts'
import type { AnswerGuest } from '../pages/frame/page.tsx'
import { createPageRoutes } from '../pages/pages.ts'
import type { Config } from '../settings/table.ts'
import { noteFailure } from './logging.ts'
import { createRouteTable } from './route-table.ts'
import type { Services } from './services.ts'

/** What the pages and the API of one server share. */
export type Served = {
  config: Pick<Config, 'anonymousAccess' | 'signups'>
  settings: readonly SettingInEffect[]
  version: string
  services: Services
  store: { now: Now; isAlive: () => Promise<boolean> }
  log: Log
  /** What devices have to trust; null without --tls auto. */
  authority: Authority | null
  /** Null without --backup-dir. */
  backups: Backups | null
  lookAtHealth: LookAtHealth
}

export type PagePartsOptions = {
  guests: { assets: Assets; answer: AnswerGuest; getGuest: GetGuest }
  body: BodyLimits
  listUndeclaredProxies: () => string[]
}

export function createServedPages(served: Served, { guests, ...parts }: PagePartsOptions): Route[] {
  const { config, services, settings, store, authority, backups, lookAtHealth } = served
  const { assets, answer, getGuest } = guests
  const { anonymousAccess, signups } = config
  return createPageRoutes({
    ...services,
    ...parts,
    answer,
    getGuest,
    createScripts: { wordlist: assets.hrefOf('wordlist'), qrPreview: assets.hrefOf('qrPreview') },
    now: store.now,
    lookAtHealth,
    listJobs: services.jobs.list,
    readBackups: () => backups?.status() ?? null,
    makeBackup: backups?.makeNow ?? null,
    settings,
    authority,
    anonymousAccess,
    signups,
  })
}

export type RoutesOptions = {
  assets: Assets
  answer: AnswerGuest
  getGuest: GetGuest
  basePath: string
  body: BodyLimits
  pages: readonly Route[]
  presentError: PresentError
  answerReady: Route['answer']
  answerManifest: Route['answer']
}

export function createRoutes(served: Served, { body, presentError, ...parts }: RoutesOptions) {
  const { services, store, log, version } = served
  const { limits, apiTokens } = services
  const { anonymousAccess } = served.config
  const routes = createRouteTable({
    ...parts,
    getViewer: createGetViewer({
      authenticate: apiTokens.authenticate,
      anonymousAccess,
      onError: noteFailure(log, 'the last use of an API token was not noted'),
    }),
    endpoints: createPushEndpoints({ ...services, body, now: store.now }),
    answerDownload: createAnswerDownload(services.downloads),
    version: { applicationVersion: version, anonymousAccess, limits },
    isAlive: store.isAlive,
    reference: createReference({ routes: () => router.app, limits, version }),
  })
  const router = createRouter({ routes, presentError })
  return router
}
