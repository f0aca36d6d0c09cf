// The door of a server: everything between a socket and the services.

import { createAnswerReady } from '../api/health.ts'
import { createGetViewer } from '../api/viewer.ts'
import { createRequestIds } from '../crypto/random.ts'
import { type ClientOf, countingLoopback } from '../domain/client.ts'
import { DamageError } from '../domain/errors.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import { createSecure } from '../http/answers.ts'
import { createBodyRoom } from '../http/door/body-room.ts'
import { createForwarding } from '../http/door/client-address.ts'
import { createCors } from '../http/door/cors.ts'
import { createPresentError } from '../http/door/errors.ts'
import type { Exchange } from '../http/door/exchange.ts'
import { createHostRules, createStrictHostRules } from '../http/door/host.ts'
import type { Network } from '../http/door/listener.ts'
import { createAnswerPlain } from '../http/door/plain-http.ts'
import {
  createLimitOtherSites,
  createLimitRate,
  DEFAULT_RATE_LIMIT,
  type RateLimit,
} from '../http/door/rate-limit.ts'
import { createFrontDoor, type FrontDoorOptions, type LogRequest } from '../http/door/server.ts'
import { createShed, type ShedOptions } from '../http/door/shed.ts'
import { bodyLimitsOf, maxBodyBytes } from '../http/intake/body.ts'
import { routeClassOf } from '../http/route-class.ts'
import { type Endpoint, FILES, RECIPIENT_URLS } from '../http/urls.ts'
import { createDeparture, type Departure } from '../operating/departure.ts'
import { problem } from '../operating/health.ts'
import { noteFailure, placeDamage } from '../operating/logging.ts'
import type { Metrics } from '../operating/metrics.ts'
import { createAssets } from '../pages/frame/assets.ts'
import { createAnswerRefusal } from '../pages/frame/error-page.tsx'
import { createGetGuest } from '../pages/frame/guest.ts'
import { createAnswerManifest } from '../pages/frame/manifest.ts'
import { createAnswerGuest } from '../pages/frame/page.tsx'
import { createFindElsewhere } from '../pages/frame/reach.ts'
import type { Config } from '../settings/table.ts'
import type { Branding } from './branding.ts'
import { createRoutes, type ServedParts } from './routes.ts'

type DoorOptions = ServedParts & {
  branding: Branding
  /** The metrics; null without --metrics-listen. */
  metrics: Metrics | null
  listAddresses: Network['listAddresses']
  /** The addresses that the server listens on. */
  addresses: readonly string[]
  /** The port of TLS, once the server listens. */
  httpsPort: () => number
  rateLimit?: RateLimit | undefined
  observe?: FrontDoorOptions['observe']
}

export type Door = ReturnType<typeof createDoor>

export function createDoor(options: DoorOptions) {
  const { config, services, log, metrics } = options
  const { receiveUrl } = config
  const { clientOf } = services.limits
  const departure = createDeparture({ elapsed: () => performance.now(), wait: Bun.sleep })
  const onShed = (requests: number) => {
    metrics?.refused('shed', requests)
    log.warn({ requests }, 'overloaded: answered requests with 503')
  }
  const shared = {
    ...options,
    forwarding: createForwarding(config.trustedProxies, (warning) => log.warn(warning)),
    bodyRoom: createBodyRoom({ maxBytes: maxBodyBytes(config), clientOf }),
    newRequestId: createRequestIds(),
    logRequest: createLogRequest(options),
    ...{ departure, onShed },
  }
  const main = createSide(shared, {
    hostRules: createHostRules({ ...config, addresses: options.addresses }),
    cors: createCors(config.corsOrigins),
    secure: createSecure(config),
    isTls: config.tls !== 'off',
    ...{ clientOf, isOutside: false },
  })
  const answerPlain = createAnswerPlain({ ...options, ...main, baseUrl: config.baseUrl })
  return {
    handle: main.handle,
    handlePlain: createFrontDoor({ ...main.door, answerRoute: answerPlain, isTls: false }),
    /** The door of --receive-listen; null without it. */
    outside:
      receiveUrl === null || services.forRecipients === null ? null : createOutsideDoor(shared, receiveUrl),
    /**
     * Waits until the load balancer has noticed the stop. Without other nodes to take over, does not wait.
     */
    leave: config.databaseUrl === null ? async () => undefined : departure.leave,
    isLeaving: departure.isLeaving,
    shed: main.shed,
  }
}

type SharedParts = DoorOptions &
  Pick<FrontDoorOptions, 'bodyRoom' | 'newRequestId' | 'logRequest'> &
  Pick<ShedOptions, 'onShed'> & { forwarding: ReturnType<typeof createForwarding>; departure: Departure }

type SideOptions = Pick<FrontDoorOptions, 'hostRules' | 'cors' | 'secure' | 'isTls' | 'isOutside'> & {
  clientOf: ClientOf
  /** The only URLs of this side; if absent, all. */
  only?: readonly Endpoint[]
}

/** Makes the front door of one listener with its routes and pages. Both share memory, proxies and the log. */
function createSide(shared: SharedParts, side: SideOptions) {
  const { config, store, branding, appearance, forwarding, bodyRoom } = shared
  const { rateLimit = DEFAULT_RATE_LIMIT } = shared
  const { hostRules, cors, clientOf } = side
  const { basePath } = hostRules
  const guests = createGuests(shared, basePath)
  const parts = { ...shared, ...guests, listUndeclaredProxies: forwarding.listUndeclaredProxies }
  const answerRoute = createRoutes({
    ...{ ...parts, basePath, known: side.only },
    body: bodyLimitsOf(config, bodyRoom),
    answerReady: createReadiness(parts, shared.departure),
    answerManifest: createAnswerManifest({
      ...{ assets: guests.assets, basePath, color: branding.color },
      readName: () => appearance.inEffect().name,
    }),
  })
  const door = {
    ...{ ...shared, ...side, receiveUrl: config.receiveUrl },
    readForwarded: forwarding.read,
    limitRate: createLimitRate(rateLimit, clientOf),
    limitOtherSites: createLimitOtherSites(rateLimit, clientOf),
    presentError: guests.presentError,
  }
  const { isOverloaded, commitOverdue } = store
  return {
    ...{ answerRoute, door },
    handle: createFrontDoor({ ...door, answerRoute }),
    shed: createShed({ isOverloaded, commitOverdue, basePath, cors, onShed: shared.onShed }),
  }
}

/**
 * Makes the door of --receive-listen, which accepts one host name and one origin and serves only the pages
 * for recipients.
 */
function createOutsideDoor(shared: SharedParts, receiveUrl: string) {
  const { config, services } = shared
  const { pushes, requests } = services.forRecipients ?? { ...services.sharing, ...services }
  const sharing = { ...services.sharing, pushes }
  return createSide(
    { ...shared, services: { ...services, sharing, requests } },
    {
      hostRules: createStrictHostRules(receiveUrl),
      cors: createCors([]),
      secure: createSecure({ ...config, baseUrl: receiveUrl }),
      clientOf: countingLoopback(services.limits.clientOf),
      ...{ isTls: hasTlsOutside(config), isOutside: true, only: RECIPIENT_URLS },
    },
  )
}

/** Whether --receive-listen uses the certificate of the main listener. A declared proxy ends TLS itself. */
export function hasTlsOutside({ receiveUrl, tls, trustedProxies }: Config): boolean {
  return tls !== 'off' && trustedProxies.length === 0 && receiveUrl?.startsWith('https:') === true
}

/** Identifies the guests of pages, and renders pages and errors for them. */
function createGuests(options: DoorOptions, basePath: string) {
  const { config, branding, appearance, services, addresses, listAddresses, log, metrics } = options
  const assets = createAssets({ basePath, brand: branding })
  const answer = createAnswerGuest(assets)
  const getGuest = createGetGuest({
    findSession: services.access.sessions.findSession,
    countUnseen: services.sharing.pushes.countUnseen,
    basePath,
    hasNotices: config.webhookHosts.length > 0 || config.smtpUrl !== null,
    readBrand: () => ({ ...appearance.inEffect(), logo: assets.logoHref }),
    findElsewhere: createFindElsewhere({ baseUrl: config.baseUrl, addresses, listAddresses }),
    onError: noteFailure(log, 'could not record the last use of a session'),
  })
  const presentError = createPresentError({
    onRefused: (code) => metrics?.refused(code),
    logFailure: ({ requestId, cause }) => {
      const why = explainSystemError(cause)
      const message = why === null ? 'a request failed' : `a request failed: ${why}`
      const err = placeDamage(cause, config)
      log.error({ requestId, err }, message)
      if (err instanceof DamageError) options.store.damage.report(err)
    },
    answerRefusal: createAnswerRefusal({ answer, getGuest }),
  })
  return { assets, answer, getGuest, presentError }
}

type ReadinessOptions = Pick<DoorOptions, 'config' | 'services' | 'lookAtHealth'> &
  Pick<ReturnType<typeof createGuests>, 'getGuest'> & { listUndeclaredProxies: () => string[] }

function createReadiness(options: ReadinessOptions, departure: Departure) {
  const { config, listUndeclaredProxies, lookAtHealth } = options
  return createAnswerReady({
    lookAtHealth: async () => {
      const isLeaving = departure.asked()
      const health = await lookAtHealth()
      return isLeaving ? { isReady: false, findings: [...health.findings, STOPPING] } : health
    },
    isAdmin: createIsAdmin(options),
    hasUndeclaredProxy: () => listUndeclaredProxies().length > 0,
    baseUrl: config.baseUrl,
    hasTrustedProxies: config.trustedProxies.length > 0,
  })
}

const STOPPING = { part: 'server', ...problem('The server is stopping. It answers requests until then.') }

/**
 * Whether the session or API token belongs to an administrator. False if the token is invalid, or if the
 * database is too slow to answer.
 */
function createIsAdmin({ services, getGuest }: ReadinessOptions): (exchange: Exchange) => Promise<boolean> {
  const { authenticate } = services.access.apiTokens
  const getViewer = createGetViewer({ authenticate, anonymousAccess: true, onError: () => undefined })
  const look = async (exchange: Exchange) => {
    const { account } = await getViewer(exchange, 'visitor')
    const known = account ?? (await getGuest(exchange)).viewer.account
    return known?.isAdmin ?? false
  }
  // Answer in time, because monitoring needs an answer even while the database hangs.
  return (exchange) => Promise.race([look(exchange).catch(() => false), Bun.sleep(SECOND).then(() => false)])
}

/** Probes of load balancers: several a second would fill the log. */
const PROBES = new Set<string>([FILES.up.path, FILES.ready.path])

/**
 * Logs every request except probes; of those it logs only the first of several consecutive 503s. Counts all
 * requests in the metrics.
 */
function createLogRequest({ log, metrics }: Pick<DoorOptions, 'log' | 'metrics'>): LogRequest {
  const refused = new Set<string>()
  const write: LogRequest = (line) => {
    if (!PROBES.has(line.route) || !isNothingNew(line, refused)) log.info(line)
  }
  if (metrics === null) return write
  return (line) => {
    metrics.request({ ...line, routeClass: routeClassOf(line) })
    write(line)
  }
}

/** Whether a probe gets the same answer as before. `refused` holds the routes whose last answer was a 503. */
function isNothingNew({ route, status }: { route: string; status: number }, refused: Set<string>): boolean {
  if (status === 200) refused.delete(route)
  if (status !== 503) return status === 200
  const isTold = refused.has(route)
  refused.add(route)
  return isTold
}
