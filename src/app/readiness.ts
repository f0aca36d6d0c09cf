// Makes the answer of /readyz: which parts are looked at, and who may know the details.

import type { Now } from '../domain/time.ts'
import { createAnswerReady } from '../http/api/health.ts'
import type { Exchange } from '../http/door/exchange.ts'
import type { Route } from '../http/door/router.ts'
import { createGetViewer } from '../http/door/viewer.ts'
import type { GetGuest } from '../http/pages/frame/guest.ts'
import { createLookAtHealth, type HealthCheck } from '../operating/health.ts'
import { createHealthChecks, type ServedHealthOptions } from '../operating/health-checks.ts'
import type { Config } from '../settings/table.ts'
import type { Services } from './services.ts'

export type ReadinessOptions = {
  config: Config
  store: ServedHealthOptions['store']
  services: Pick<Services, 'apiTokens'>
  systemNow: Now
  getGuest: GetGuest
  listUndeclaredProxies: () => string[]
  /** Parts besides those of the store. */
  moreChecks: readonly HealthCheck[]
}

export function createReadiness(options: ReadinessOptions): Route['answer'] {
  const { config, listUndeclaredProxies } = options
  const checks = [...createHealthChecks({ ...options, ...config }), ...options.moreChecks]
  return createAnswerReady({
    lookAtHealth: createLookAtHealth(checks),
    isAdmin: createIsAdmin(options),
    hasUndeclaredProxy: () => listUndeclaredProxies().length > 0,
    baseUrl: config.baseUrl,
    hasTrustedProxies: config.trustedProxies.length > 0,
  })
}

/** By session or by API token; an invalid token is nobody's. A database that does not answer knows no administrators. */
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
