// The composition root: from a configuration to a running server, and to the accounts for commands beside it.

import { availableParallelism } from 'node:os'
import { version } from '../package.json'
import { openServedStore } from './app/served-store.ts'
import { type Client, createClient, type ServerToAsk } from './client/client.ts'
import { randomBase32 } from './crypto/random.ts'
import { createRequestIds } from './crypto/request-ids.ts'
import type { Now } from './domain/time.ts'
import { createAnswerDownload } from './http/api/downloads.ts'
import { createPushEndpoints } from './http/api/pushes.ts'
import { createReference } from './http/api/reference.ts'
import { createBodyRoom } from './http/door/body-room.ts'
import { createForwarding, limitKey, turnKey } from './http/door/client-address.ts'
import { type Cors, createCors } from './http/door/cors.ts'
import { createPresentError } from './http/door/errors.ts'
import { createHostRules, type HostRules } from './http/door/host.ts'
import { bindingsOf, listen, type Network, type ServerUrls, urlsOf } from './http/door/listener.ts'
import { createLimitRate, DEFAULT_RATE_LIMIT, type RateLimit } from './http/door/rate-limit.ts'
import { createRouter } from './http/door/router.ts'
import { createSecure } from './http/door/security-headers.ts'
import { createFrontDoor } from './http/door/server.ts'
import { createShed } from './http/door/shed.ts'
import { createGetViewer } from './http/door/viewer.ts'
import { bodyLimitsOf, maxBodyBytes } from './http/intake/body.ts'
import type { SettingInEffect } from './http/pages/admin/admin.tsx'
import { createAssets } from './http/pages/frame/assets.ts'
import { createAnswerRefusal } from './http/pages/frame/error-page.tsx'
import { createGetGuest } from './http/pages/frame/guest.ts'
import { createAnswerGuest } from './http/pages/frame/page.tsx'
import { createFindElsewhere, type FindElsewhere } from './http/pages/frame/reach.ts'
import { createPageRoutes } from './http/pages/page-routes.ts'
import { createPages } from './http/pages/pages.ts'
import { createRouteTable } from './http/routes.ts'
import { createLog, type Log } from './operating/log.ts'
import { scheduleSweeps } from './operating/sweep-schedule.ts'
import { type AccountLinks, createAccountLinks } from './services/accounts/account-links.ts'
import { type Accounts, createAccounts } from './services/accounts/accounts.ts'
import { type ApiTokens, createApiTokens } from './services/accounts/api-tokens.ts'
import { createSessions } from './services/accounts/sessions.ts'
import { createTwoFactor } from './services/accounts/two-factor.ts'
import { createSharedLanes, type Lanes } from './services/lanes.ts'
import { createDownloads } from './services/pushes/downloads.ts'
import { createFormMarks } from './services/pushes/form-marks.ts'
import { createIdempotency } from './services/pushes/idempotency.ts'
import { createPassphrases } from './services/pushes/passphrases.ts'
import { createPushes } from './services/pushes/pushes.ts'
import { createRelieve } from './services/pushes/relief.ts'
import { createShareOf } from './services/pushes/shares.ts'
import { createUploads } from './services/pushes/uploads.ts'
import { createReadStatus } from './services/upkeep/status.ts'
import { createSweeper, type Sweeper } from './services/upkeep/sweeper.ts'
import { pushLimitsOf, shareLimitsOf } from './settings/push-limits.ts'
import type { Config } from './settings/table.ts'
import type { Store } from './store/store.ts'

export { type Network, version }

/** How the commands that speak to a server introduce themselves, and how long it may keep silent. */
const CLIENT = { userAgent: `oncebox/${version}`, patienceMs: 60_000 }

/** The world outside: the system's clock in milliseconds, and where a finished log line goes. */
export type Ports = { now: Now; writeLog: (line: string) => void }

export type ServerPorts = Ports & { network: Network }

/** A configuration with where each setting of it comes from, for the administrators. */
export type ServedConfig = { config: Config; settings: readonly SettingInEffect[] }

export type RunningServer = ServerUrls & {
  baseUrl: string | null
  dataDir: string
  /** Where the first administrator makes an account, once; null when there are accounts. */
  setupPath: string | null
  stop(): Promise<void>
  /** Resolves when the store had to give up and the process should end. */
  failed: Promise<Error>
}

/** `addresses` are those that it will listen on; without them they are what `host` says. */
type InstancePorts = Ports & {
  rateLimit?: RateLimit
  addresses?: readonly string[]
  network?: Pick<Network, 'listAddresses'>
}

/** What a running Oncebox consists of, with `handle` in place of a socket: tests stop here. */
export type Instance = Awaited<ReturnType<typeof openInstance>>

export async function openInstance(
  { config, settings }: ServedConfig,
  ports: InstancePorts & { onStep?: (step: string) => void },
) {
  const log = createLog({ format: config.logFormat, now: ports.now, write: ports.writeLog })
  log.info(
    { version, dataDir: config.dataDir, keyFile: config.keyFile ?? undefined },
    'opening the data folder',
  )
  const { store, failed } = await openServedStore({ config, log, ports })
  try {
    return await serveStore({ config, settings, store, log, failed, ports })
  } catch (cause) {
    // Frees the lock of the folder, so that the next start need not wait for this process to end.
    await store.close().catch((err) => log.error({ err }, 'the data folder was not closed in order'))
    throw store.explainFailure(cause)
  }
}

type StoreToServe = ServedConfig & {
  store: Store
  log: Log
  failed: Promise<Error>
  ports: InstancePorts
}

/** Starts its timers last, once nothing can fail any more: a fault leaves only the store to close. */
async function serveStore(served: StoreToServe) {
  const { config, store, log, failed, ports } = served
  const accounts = createAccounts(store)
  const apiTokens = createApiTokens({ apiTokens: store.apiTokens, accounts })
  const { expiry, files, idempotencyKeys, now } = store
  const sweeper = createSweeper({ expiry, files, idempotencyKeys, now, purgeAfter: config.purgeAfter })
  // Sign-ins and passphrases queue separately and take turns, so neither starves the other.
  const { first: lanes, second: passphraseLanes } = createSharedLanes({
    lanes: Math.max(1, availableParallelism() - 1),
    clientOf: turnKey,
  })
  const accountLinks = createAccountLinks({ store, lanes })
  const addresses = ports.addresses ?? [config.host]
  const hostRules = createHostRules({ baseUrl: config.baseUrl, host: config.host, addresses })
  const cors = createCors(config.corsOrigins)
  const handle = createHandle({
    ...served,
    accounts,
    accountLinks,
    apiTokens,
    sweeper,
    lanes,
    passphraseLanes,
    hostRules,
    findElsewhere: createFindElsewhere({
      baseUrl: config.baseUrl,
      addresses,
      listAddresses: () => ports.network?.listAddresses() ?? [],
    }),
    cors,
  })
  const shed = createShed({
    basePath: hostRules.basePath,
    keepUp: store.keepUp,
    cors,
    onShed: (requests) => log.warn({ requests }, 'too busy: requests were told to come back'),
  })
  const setupToken = await accountLinks.createSetupLink()
  const setupPath = setupToken === null ? null : `/welcome/${setupToken}`
  const schedule = scheduleSweeps({ sweeper, every: config.sweepEvery, now: store.now, log })

  async function close(): Promise<void> {
    schedule.stop()
    await sweeper.stop()
    await store.close()
  }

  const { confirmStart } = store
  return { handle, shed, accounts, apiTokens, sweeper, setupPath, failed, log, confirmStart, close }
}

/** Opens the data folder and listens. Throws DomainError for a folder, key, clock or address that cannot be had. */
export async function startServer(served: ServedConfig, ports: ServerPorts): Promise<RunningServer> {
  const { config } = served
  const { lookUp, listAddresses } = ports.network
  const bindings = await bindingsOf(config.host, lookUp)
  const addresses = bindings.map(({ address }) => address)
  const instance = await openInstance(served, { ...ports, addresses })
  try {
    const secure = createSecure(config.baseUrl)
    const listener = listen({ ...instance, secure, bindings, port: config.port, listAddresses })
    const stop = async () => {
      instance.log.info('stopping: running requests may finish')
      await listener.stop()
      await instance.close()
    }
    instance.confirmStart()
    const { setupPath, failed } = instance
    const { baseUrl, dataDir } = config
    return { ...urlsOf(listener, config.host), baseUrl, dataDir, setupPath, stop, failed }
  } catch (cause) {
    await instance.close()
    throw cause
  }
}

/** For commands that speak to a server, this one or another. */
export function openClient(asked: ServerToAsk): Client {
  return createClient({ ...asked, ...CLIENT, newBoundary: () => `oncebox-${randomBase32(20)}` })
}

type HandleParts = StoreToServe & {
  accounts: Accounts
  accountLinks: AccountLinks
  apiTokens: ApiTokens
  sweeper: Sweeper
  lanes: Lanes
  passphraseLanes: Lanes
  hostRules: HostRules
  findElsewhere: FindElsewhere
  cors: Cors
}

function createHandle(parts: HandleParts) {
  const { config, store, apiTokens, lanes, hostRules, cors, log } = parts
  const limits = pushLimitsOf(config)
  const passphrases = createPassphrases({ lanes: parts.passphraseLanes, clientOf: turnKey })
  const relieve = createRelieve(() => Bun.gc(true))
  const uploads = createUploads({ store, limits, relieve })
  const downloads = createDownloads({ store, keyring: store.keyring, now: store.now, relieve })
  const { keyring, now } = store
  const pushes = createPushes({
    store,
    keyring,
    passphrases,
    maxWrongTries: config.maxPassphraseAttempts,
    shareOf: createShareOf({ keyring, limits: shareLimitsOf(config), clientOf: limitKey }),
    grant: downloads.grant,
    now,
  })
  const idempotency = createIdempotency({ store, keyring, now })
  const bodyRoom = createBodyRoom({ maxBytes: maxBodyBytes(config), clientOf: limitKey })
  const body = bodyLimitsOf(config, bodyRoom.take)
  const { basePath } = hostRules
  const assets = createAssets({ version, basePath })
  const sessions = createSessions({ store, keyring, lanes, now, systemNow: parts.ports.now })
  const answer = createAnswerGuest(assets)
  const getGuest = createGetGuest({
    findSession: sessions.findSession,
    basePath,
    findElsewhere: parts.findElsewhere,
    onError: (err) => log.error({ err }, 'the last use of a session was not noted'),
  })
  const presentError = createPresentError({
    logFailure: ({ requestId, cause }) => log.error({ requestId, err: cause }, 'a request failed'),
    answerRefusal: createAnswerRefusal({ answer, getGuest }),
  })
  const forwarding = createForwarding(config.trustedProxies, (warning) => log.warn(warning))
  const pages = createPages({
    answer,
    wordlist: assets.hrefOf('wordlist'),
    pushes,
    uploads,
    idempotency,
    marks: createFormMarks(keyring),
    limits,
    body,
    now,
    accounts: parts.accounts,
    accountLinks: parts.accountLinks,
    apiTokens,
    sessions,
    lanes,
    twoFactor: createTwoFactor({ store, keyring, systemNow: parts.ports.now }),
    readStatus: createReadStatus({ store, sweeper: parts.sweeper, now }),
    settings: parts.settings,
    anonymousAccess: config.anonymousAccess,
    listUndeclaredProxies: forwarding.listUndeclaredProxies,
    signups: config.signups,
  })
  const routes = createRouteTable({
    assets,
    basePath,
    endpoints: createPushEndpoints({ pushes, uploads, idempotency, limits, body, now }),
    answerDownload: createAnswerDownload(downloads),
    pages: createPageRoutes({ pages, getGuest, anonymousAccess: config.anonymousAccess }),
    version: { applicationVersion: version, anonymousAccess: config.anonymousAccess, limits },
    isAlive: store.isAlive,
    reference: createReference({ routes: () => router.app, version }),
  })
  const getViewer = createGetViewer({
    authenticate: apiTokens.authenticate,
    anonymousAccess: config.anonymousAccess,
    onError: (err) => log.error({ err }, 'the last use of an API token was not noted'),
  })
  const router = createRouter({ routes, getViewer, presentError })
  return createFrontDoor({
    answerRoute: router.answerRoute,
    readForwarded: forwarding.read,
    hostRules,
    cors,
    limitRate: createLimitRate(parts.ports.rateLimit ?? DEFAULT_RATE_LIMIT),
    bodyRoom,
    presentError,
    secure: createSecure(config.baseUrl),
    newRequestId: createRequestIds(),
    logRequest: ({ durationMs, ...line }) =>
      log.info({ ...line, durationMs: Math.round(durationMs * 100) / 100 }),
  })
}
