// The routes of a server: the tables of the API, the files and the pages, and the redirects of older paths.

import { createAnswerDownload } from '../api/downloads.ts'
import { createReference } from '../api/reference.ts'
import { createApiRoutes } from '../api/routes.ts'
import { createGetViewer } from '../api/viewer.ts'
import type { Backups } from '../backup/backups.ts'
import { answerJson, answerText } from '../http/answers.ts'
import type { PresentError } from '../http/door/errors.ts'
import { createRouter, open, type Route, routesOf } from '../http/door/router.ts'
import type { BodyLimits } from '../http/intake/body.ts'
import { type Endpoint, FILES } from '../http/urls.ts'
import type { Authority } from '../lan/certificate.ts'
import type { Appearances } from '../operating/appearance.ts'
import type { LookAtHealth } from '../operating/health.ts'
import type { Log } from '../operating/log.ts'
import { noteFailure } from '../operating/logging.ts'
import { createFindSetup } from '../pages/admin/first-steps.tsx'
import type { SettingInEffect } from '../pages/admin/settings.tsx'
import { createAnswerDocs } from '../pages/docs/docs.tsx'
import type { Assets } from '../pages/frame/assets.ts'
import type { GetGuest } from '../pages/frame/guest.ts'
import type { AnswerGuest } from '../pages/frame/page.tsx'
import { createFormAddressRoutes, createMovedRoutes } from '../pages/moved.ts'
import { createPageRoutes } from '../pages/pages.ts'
import { createAnswerAuthority } from '../pages/trust/trust-page.tsx'
import { policiesOf, signInWaysOf } from '../settings/push-limits.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { Services } from './services.ts'

/** The services and settings that routes and pages use. */
export type ServedParts = {
  config: Config
  /** The settings in effect, for administrators. */
  settings: readonly SettingInEffect[]
  version: string
  appearance: Appearances
  store: OpenedStore
  log: Log
  services: Services
  lookAtHealth: LookAtHealth
  /** The authority that devices have to trust; null without --tls auto. */
  authority: Authority | null
  /** The scheduled backups; null without --backup-dir. */
  backups: Backups | null
}

type RoutesOptions = ServedParts & {
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
  /** The only URLs of this door; all without it. */
  known?: readonly Endpoint[] | undefined
}

/**
 * Serves the rules of the Robots Exclusion Protocol (RFC 9309). Pages repeat them for robots that follow a
 * link.
 */
const NOTHING_TO_INDEX = 'User-agent: *\nDisallow: /\n'

export function createRoutes(options: RoutesOptions) {
  const { services, config, store, log, presentError, basePath } = options
  const { anonymousAccess } = config
  const { requests, sharing, access, notices } = services
  const { limits } = sharing
  const facts = {
    ...{ applicationVersion: options.version, anonymousAccess, limits },
    webhooks: notices.webhooks.isOn,
    policies: policiesOf(config),
    signIn: signInWaysOf(config),
  }
  const reference = createReference({ limits, anonymousAccess, version: options.version })
  const getViewer = createGetViewer({
    authenticate: access.apiTokens.authenticate,
    anonymousAccess,
    onError: noteFailure(log, 'could not record the last use of an API token'),
  })
  return createRouter({
    only: options.known,
    routes: [
      ...createApiRoutes({
        ...sharing,
        ...notices,
        ...{ requests, body: options.body, now: store.now, getViewer, facts, reference },
        answerDocs: createAnswerDocs({ ...options, reference }),
      }),
      ...createFileRoutes(options),
      ...createMovedRoutes(basePath, { mail: limits.mail, signups: config.signups }),
      ...createFormAddressRoutes(basePath),
      ...createServedPages(options, reference),
    ],
    presentError,
  })
}

function createFileRoutes(options: RoutesOptions): Route[] {
  const { assets, services, store, answerReady, answerManifest } = options
  const answerUp = (up: boolean) => answerJson(up ? 200 : 503, { up })
  return routesOf(FILES, {
    download: open(createAnswerDownload(services.sharing.downloads)),
    asset: open(assets.answer),
    favicon: open(assets.answerFavicon),
    touchIcon: open(assets.answerTouchIcon),
    manifest: open(answerManifest),
    robots: open(() => answerText(200, NOTHING_TO_INDEX)),
    up: open(async () => answerUp(await store.isAlive())),
    ready: open(answerReady),
    authority: open(createAnswerAuthority(options)),
  })
}

function createServedPages(
  { services, config, store, backups, log, ...options }: RoutesOptions,
  reference: () => Promise<object>,
): Route[] {
  const { assets } = options
  const sealingScripts = {
    ...{ age: assets.hrefOf('age'), seal: assets.hrefOf('seal'), unseal: assets.hrefOf('unseal') },
    ...{ identity: assets.hrefOf('identity'), qrPicture: assets.hrefOf('qrPicture') },
  }
  const { requests, sharing, access, notices, upkeep } = services
  return createPageRoutes({
    ...options,
    ...sharing,
    ...access,
    ...notices,
    ...upkeep,
    requests,
    anonymousAccess: config.anonymousAccess,
    requireSecondFactor: config.requireSecondFactor,
    signups: config.signups,
    allowsPasswords: config.passwordSignIn === 'yes',
    allowsPasskeys: config.passwordSignIn !== 'no',
    onRefused: ({ reason, what = 'a sign-in by others', ...at }) =>
      log.warn({ reason, ...at }, `refused ${what}`),
    createScripts: {
      ...{ wordlist: assets.hrefOf('wordlist'), qrPreview: assets.hrefOf('qrPreview') },
      ...sealingScripts,
    },
    sealingScripts,
    now: store.now,
    findSetup: createFindSetup({ pushes: sharing.pushes, now: store.now }),
    isOnServer: store.database !== null,
    listJobs: upkeep.jobs.list,
    readBackups: () => backups?.status() ?? null,
    makeBackup: backups?.makeNow ?? null,
    answerPreviousApi: createAnswerDocs({ ...options, reference, only: 'Previous version' }),
  })
}
