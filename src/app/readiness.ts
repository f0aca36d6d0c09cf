// Makes the answer of /readyz: the parts that are checked, and who may see the details.

import { createAnswerReady } from '../api/health.ts'
import { createGetViewer } from '../api/viewer.ts'
import { type Now, SECOND } from '../domain/time.ts'
import type { Exchange } from '../http/door/exchange.ts'
import type { Route } from '../http/door/router.ts'
import { createServerChecks, type ServedOptions } from '../operating/checks.ts'
import type { Departure } from '../operating/departure.ts'
import { type Check, createLookAtHealth, type LookAtHealth, problem, wordOf } from '../operating/health.ts'
import type { Log } from '../operating/log.ts'
import type { GetGuest } from '../pages/frame/guest.ts'
import { nameDatabase } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { Services } from './services.ts'

export type HealthOptions = {
  config: Config
  store: ServedOptions['store']
  systemNow: Now
  /** Parts besides those of the store. */
  moreChecks: readonly Check[]
}

export function createServedHealth({ config, moreChecks, ...options }: HealthOptions): LookAtHealth {
  const { dataDir } = config
  const databaseName = nameDatabase(config) ?? ''
  const minFreeSpace = needsDisk(config) ? config.minFreeSpace : null
  const checks = createServerChecks({ ...options, databaseName, dataDir, minFreeSpace })
  return createLookAtHealth([...checks, ...moreChecks])
}

/** Pushes leave nothing on the disk of this machine when their rows and files are elsewhere. */
function needsDisk({ databaseUrl, filesUrl }: Config): boolean {
  return databaseUrl === null || filesUrl === null
}

export type ReadinessOptions = {
  config: Config
  services: Pick<Services, 'apiTokens'>
  getGuest: GetGuest
  listUndeclaredProxies: () => string[]
  lookAtHealth: LookAtHealth
  departure: Pick<Departure, 'asked'>
}

export function createReadiness(options: ReadinessOptions): Route['answer'] {
  const { config, listUndeclaredProxies, lookAtHealth, departure } = options
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

/** Checks the session or the API token. False for an invalid token, and when the database does not answer in time. */
function createIsAdmin({ services, getGuest }: ReadinessOptions): (exchange: Exchange) => Promise<boolean> {
  const getViewer = createGetViewer({
    authenticate: services.apiTokens.authenticate,
    anonymousAccess: true,
    onError: () => undefined,
  })
  const look = async (exchange: Exchange) => {
    const { account } = await getViewer(exchange, 'visitor')
    const known = account ?? (await getGuest(exchange)).viewer.account
    return known?.isAdmin ?? false
  }
  // Monitoring waits for the answer, also while the database hangs.
  return (exchange) =>
    Promise.race([look(exchange).catch(() => false), Bun.sleep(PATIENCE_MS).then(() => false)])
}

const PATIENCE_MS = SECOND
const STOPPING = { part: 'server', ...problem('The server is stopping. It answers requests until then.') }

/** Says at the start what needs attention, such as a disk with little space. */
export async function tellHealth(lookAtHealth: LookAtHealth, log: Log): Promise<void> {
  const { findings } = await lookAtHealth()
  for (const { part, ...found } of findings) if (found.state !== 'ok') log.warn({ part }, wordOf(found))
}
