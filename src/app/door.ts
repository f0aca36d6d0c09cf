// The door of a server: everything between a socket and the services.

import { createAnswerReady } from '../api/health.ts'
import { createGetViewer } from '../api/viewer.ts'
import { createRequestIds } from '../crypto/random.ts'
import { DamageError } from '../domain/errors.ts'
import { explainSystemError } from '../domain/system-errors.ts'
import { SECOND } from '../domain/time.ts'
import { createSecure } from '../http/answers.ts'
import { createBodyRoom } from '../http/door/body-room.ts'
import { createForwarding } from '../http/door/client-address.ts'
import { createCors } from '../http/door/cors.ts'
import { createPresentError } from '../http/door/errors.ts'
import type { Exchange } from '../http/door/exchange.ts'
import { createHostRules } from '../http/door/host.ts'
import type { Network } from '../http/door/listener.ts'
import { createAnswerPlain } from '../http/door/plain-http.ts'
import {
  createLimitOtherSites,
  createLimitRate,
  DEFAULT_RATE_LIMIT,
  type RateLimit,
} from '../http/door/rate-limit.ts'
import { createFrontDoor, type LogRequest } from '../http/door/server.ts'
import { createShed } from '../http/door/shed.ts'
import { bodyLimitsOf, maxBodyBytes } from '../http/intake/body.ts'
import { routeClassOf } from '../http/route-class.ts'
import { FILES } from '../http/urls.ts'
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
}

export type Door = ReturnType<typeof createDoor>

export function createDoor(options: DoorOptions) {
  const { config, store, log, metrics, rateLimit = DEFAULT_RATE_LIMIT } = options
  const { clientOf } = options.services.limits
  const hostRules = createHostRules({ ...config, addresses: options.addresses })
  const cors = createCors(config.corsOrigins)
  const forwarding = createForwarding(config.trustedProxies, (warning) => log.warn(warning))
  const bodyRoom = createBodyRoom({ maxBytes: maxBodyBytes(config), clientOf })
  const { basePath } = hostRules
  const guests = createGuests(options, basePath)
  const { presentError } = guests
  const body = bodyLimitsOf(config, bodyRoom)
  const { listUndeclaredProxies } = forwarding
  const departure = createDeparture({ elapsed: () => performance.now(), wait: Bun.sleep })
  const doing = { ...options, ...guests, listUndeclaredProxies }
  const answerRoute = createRoutes({
    ...doing,
    ...{ basePath, body },
    answerReady: createReadiness(doing, departure),
    answerManifest: createAnswerManifest({
      ...{ assets: guests.assets, basePath, color: options.branding.color },
      readName: () => options.appearance.inEffect().name,
    }),
  })
  const shared = {
    readForwarded: forwarding.read,
    hostRules,
    cors,
    limitRate: createLimitRate(rateLimit, clientOf),
    limitOtherSites: createLimitOtherSites(rateLimit, clientOf),
    bodyRoom,
    presentError,
    secure: createSecure(config),
    newRequestId: createRequestIds(),
    logRequest: createLogRequest(options),
  }
  const handle = createFrontDoor({ ...shared, answerRoute, isTls: config.tls !== 'off' })
  const answerPlain = createAnswerPlain({ ...options, answerRoute, baseUrl: config.baseUrl })
  const handlePlain = createFrontDoor({ ...shared, answerRoute: answerPlain, isTls: false })
  const { isOverloaded, commitOverdue } = store
  const onShed = (requests: number) => {
    metrics?.refused('shed', requests)
    log.warn({ requests }, 'overloaded: answered requests with 503')
  }
  return {
    handle,
    handlePlain,
    /**
     * Waits until the load balancer has noticed the stop; not at all without other nodes, which could take
     * over.
     */
    leave: config.databaseUrl === null ? async () => undefined : departure.leave,
    isLeaving: departure.isLeaving,
    shed: createShed({ isOverloaded, commitOverdue, basePath, cors, onShed }),
  }
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
    hasWebhooks: config.webhookHosts.length > 0,
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
 * Whether the session or API token is an administrator's; false for an invalid token, and when the database
 * does not answer in time.
 */
function createIsAdmin({ services, getGuest }: ReadinessOptions): (exchange: Exchange) => Promise<boolean> {
  const { authenticate } = services.access.apiTokens
  const getViewer = createGetViewer({ authenticate, anonymousAccess: true, onError: () => undefined })
  const look = async (exchange: Exchange) => {
    const { account } = await getViewer(exchange, 'visitor')
    const known = account ?? (await getGuest(exchange)).viewer.account
    return known?.isAdmin ?? false
  }
  // Monitoring needs an answer even while the database hangs.
  return (exchange) => Promise.race([look(exchange).catch(() => false), Bun.sleep(SECOND).then(() => false)])
}

/** Probes of load balancers, which ask every second and would fill the log. */
const PROBES = new Set<string>([FILES.up.path, FILES.ready.path])

/**
 * Logs every request, but of consecutive 503s to probes only the first, and no 200. Counts all in the
 * metrics.
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

/** Whether an answer to a probe repeats the last one. `refused`: the routes whose last answer was a 503. */
function isNothingNew({ route, status }: { route: string; status: number }, refused: Set<string>): boolean {
  if (status === 200) refused.delete(route)
  if (status !== 503) return status === 200
  const isTold = refused.has(route)
  refused.add(route)
  return isTold
}
