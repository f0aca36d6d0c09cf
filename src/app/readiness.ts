// Makes the answer of /readyz: the parts that are checked, and who may see the details.

import type { Now } from '../domain/time.ts'
import { createAnswerReady } from '../http/api/health.ts'
import type { Exchange } from '../http/door/exchange.ts'
import type { Route } from '../http/door/router.ts'
import { createGetViewer } from '../http/door/viewer.ts'
import type { GetGuest } from '../http/pages/frame/guest.ts'
import { createLookAtHealth, type HealthCheck, type LookAtHealth } from '../operating/health.ts'
import { createHealthChecks, type ServedHealthOptions } from '../operating/health-checks.ts'
import type { Config } from '../settings/table.ts'
import type { Services } from './services.ts'

export type HealthOptions = {
  config: Config
  store: ServedHealthOptions['store']
  systemNow: Now
  /** Parts besides those of the store. */
  moreChecks: readonly HealthCheck[]
}

export function createServedHealth({ config, moreChecks, ...options }: HealthOptions): LookAtHealth {
  return createLookAtHealth([...createHealthChecks({ ...options, ...config }), ...moreChecks])
}

export type ReadinessOptions = {
  config: Config
  services: Pick<Services, 'apiTokens'>
  getGuest: GetGuest
  listUndeclaredProxies: () => string[]
  lookAtHealth: LookAtHealth
}

export function createReadiness(options: ReadinessOptions): Route['answer'] {
  const { config, listUndeclaredProxies, lookAtHealth } = options
  return createAnswerReady({
    lookAtHealth,
    isAdmin: createIsAdmin(options),
    hasUndeclaredProxy: () => listUndeclaredProxies().length > 0,
    baseUrl: config.baseUrl,
    hasTrustedProxies: config.trustedProxies.length > 0,
  })
}

/** Checks the session or the API token. False for an invalid token, and when the database does not answer. */
function createIsAdmin({ services, getGuest }: ReadinessOptions): (exchange: Exchange) => Promise<boolean> {
  const getViewer = createGetViewer({
    authenticate: services.apiTokens.authenticate,
    anonymousAccess: true,
    onError: () => undefined,
  })
  return async (exchange) => {
    try {
      const { account } = await getViewer(exchange, 'visitor')
      const known = account ?? (await getGuest(exchange)).viewer.account
      return known?.isAdmin ?? false
    } catch {
      return false
    }
  }
}
