// The routes of a server: connects each URL of the API, the pages and the assets with what answers it, and
// enforces the guards of the API. pages/page-guards.ts enforces those of the pages.

import { createAnswerDownload } from '../api/downloads.ts'
import { createEventRoutes, createWebhookRoutes } from '../api/notices.ts'
import { OPERATIONS } from '../api/operations.ts'
import { type ApiRoute, createPushEndpoints, routesOfPushes } from '../api/pushes.ts'
import { createReference } from '../api/reference.ts'
import { createRequestRoutes } from '../api/requests.ts'
import { createPreviousRoutes, PREVIOUS_VERSION } from '../api/v1/pushes.ts'
import { presentPreviousVersion, presentVersion, type VersionFacts } from '../api/version.ts'
import { type ApiViewer, createGetViewer, type GetViewer } from '../api/viewer.ts'
import type { Backups } from '../backup/backups.ts'
import { answerJson, answerText } from '../http/answers.ts'
import type { PresentError } from '../http/door/errors.ts'
import { type Asked, createRouter, type Route } from '../http/door/router.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { API, FILES, PAGES, PREVIOUS_API } from '../http/urls.ts'
import type { Authority } from '../lan/certificate.ts'
import type { LookAtHealth } from '../operating/health.ts'
import { noteFailure } from '../operating/logging.ts'
import { createFindSetup } from '../pages/admin/first-steps.tsx'
import { createAnswerDocs } from '../pages/docs/docs.tsx'
import type { Assets } from '../pages/frame/assets.ts'
import type { GetGuest } from '../pages/frame/guest.ts'
import type { AnswerGuest } from '../pages/frame/page.tsx'
import { createFormAddressRoutes, createMovedRoutes } from '../pages/moved.ts'
import { createPageRoutes } from '../pages/pages.ts'
import type { Base, Services } from './services.ts'

/** What the door opens to. */
export type Served = Base & {
  services: Services
  lookAtHealth: LookAtHealth
  /** What devices have to trust; null without --tls auto. */
  authority: Authority | null
  /** Null without --backup-dir. */
  backups: Backups | null
}

type RoutesOptions = Served & {
  assets: Assets
  answer: AnswerGuest
  getGuest: GetGuest
  /** The path in --base-url, '' without one. */
  basePath: string
  body: BodyLimits
  listUndeclaredProxies: () => string[]
  presentError: PresentError
  answerReady: Route['answer']
  answerManifest: Route['answer']
}

/** Robots Exclusion Protocol (RFC 9309). Pages say the same to robots that follow a link. */
const NOTHING_TO_INDEX = 'User-agent: *\nDisallow: /\n'

export function createRoutes(options: RoutesOptions) {
  const { services, config, presentError, basePath } = options
  const { anonymousAccess } = config
  const { limits, webhooks } = services
  const facts = { applicationVersion: options.version, anonymousAccess, limits, webhooks: webhooks.isOn }
  const apiRoutes = createApiRoutes(options, facts)
  const reference = createReference({ ...facts, routes: apiRoutes, version: options.version })
  return createRouter({
    routes: [
      { url: API.reference, answer: async () => answerJson(200, await reference()) },
      { url: API.docs, answer: createAnswerDocs({ ...options, reference }) },
      {
        url: PAGES.previousApi,
        answer: createAnswerDocs({ ...options, reference, only: 'Previous version' }),
      },
      ...createFileRoutes(options),
      ...apiRoutes,
      ...createMovedRoutes(basePath, { mail: limits.mail, signups: config.signups }),
      ...createFormAddressRoutes(basePath),
      ...createServedPages(options),
    ],
    presentError,
  })
}

function createFileRoutes(options: RoutesOptions): Route[] {
  const { assets, services, store, answerReady, answerManifest } = options
  const answerUp = (up: boolean) => answerJson(up ? 200 : 503, { up })
  return [
    { url: FILES.download, answer: createAnswerDownload(services.downloads) },
    { url: FILES.asset, answer: assets.answer },
    { url: FILES.favicon, answer: assets.answerFavicon },
    { url: FILES.touchIcon, answer: assets.answerTouchIcon },
    { url: FILES.manifest, answer: answerManifest },
    { url: FILES.robots, answer: () => answerText(200, NOTHING_TO_INDEX) },
    { url: FILES.up, answer: async () => answerUp(await store.isAlive()) },
    { url: FILES.ready, answer: answerReady },
  ]
}

function createApiRoutes({ services, store, log, body }: RoutesOptions, facts: VersionFacts) {
  const getViewer = createGetViewer({
    authenticate: services.apiTokens.authenticate,
    anonymousAccess: facts.anonymousAccess,
    onError: noteFailure(log, 'the last use of an API token was not noted'),
  })
  const endpoints = createPushEndpoints({ ...services, body, now: store.now })
  const guarded: ApiRoute[] = [
    ...routesOfPushes(API, OPERATIONS, endpoints),
    { url: API.edit, answer: endpoints.edit, detail: OPERATIONS.edit },
    ...(facts.limits.mail ? [{ url: API.notify, answer: endpoints.notify, detail: OPERATIONS.notify }] : []),
    ...createRequestRoutes({ ...services, body }),
    ...createWebhookRoutes({ ...services, body }),
    ...createPreviousRoutes(endpoints, facts.limits),
    ...createEventRoutes(services.events),
  ]
  const [present, previous] = [presentVersion(facts), presentPreviousVersion(facts)]
  return [
    { url: API.version, answer: () => answerJson(200, present), detail: OPERATIONS.version },
    { url: PREVIOUS_API.version, answer: () => answerJson(200, previous), detail: PREVIOUS_VERSION },
    ...guarded.map((route) => withViewer(route, getViewer)),
  ]
}

function createServedPages({ services, config, store, backups, ...options }: RoutesOptions): Route[] {
  const { assets } = options
  return createPageRoutes({
    ...services,
    ...options,
    anonymousAccess: config.anonymousAccess,
    signups: config.signups,
    createScripts: { wordlist: assets.hrefOf('wordlist'), qrPreview: assets.hrefOf('qrPreview') },
    now: store.now,
    findSetup: createFindSetup({ pushes: services.pushes, now: store.now }),
    isOnServer: store.database !== null,
    listJobs: services.jobs.list,
    readBackups: () => backups?.status() ?? null,
    makeBackup: backups?.makeNow ?? null,
  })
}

async function answerLater(
  viewer: Promise<ApiViewer>,
  { respond, ...asked }: Asked & { respond: ApiRoute['answer'] },
): Promise<Response> {
  return respond({ ...asked, viewer: await viewer })
}

/** The reference names the tokens that a route asks for. */
function withViewer({ url, answer, head = answer, ...rest }: ApiRoute, getViewer: GetViewer) {
  const identified =
    (respond: ApiRoute['answer']) =>
    ({ exchange, params }: Asked) => {
      const viewer = getViewer(exchange, url.guard)
      if (viewer instanceof Promise) return answerLater(viewer, { respond, exchange, params })
      return respond({ exchange, params, viewer })
    }
  return { url, answer: identified(answer), head: identified(head), ...rest }
}
