// Answers `GET /readyz`: ready or not; for administrators and programs of this machine also each part by its
// name.

import { isLoopbackAddress } from '../domain/client.ts'
import { answerJson } from '../http/answers.ts'
import { isForwarded } from '../http/door/client-address.ts'
import type { Exchange } from '../http/door/exchange.ts'
import { isLoopbackHost } from '../http/door/host.ts'
import type { RouteRequest } from '../http/door/router.ts'
import { type LookAtHealth, wordOf } from '../operating/health.ts'

type ReadyOptions = {
  lookAtHealth: LookAtHealth
  /** Whether an administrator asks, by session or API token. */
  isAdmin: (exchange: Exchange) => Promise<boolean>
  /** Whether a reverse proxy that is not declared forwards requests from this machine. */
  hasUndeclaredProxy: () => boolean
  /** The value of --base-url; null without it. */
  baseUrl: string | null
  hasTrustedProxies: boolean
}

export function createAnswerReady({ lookAtHealth, isAdmin, ...place }: ReadyOptions) {
  return async ({ exchange }: RouteRequest): Promise<Response> => {
    // Check both at once, because each may wait for a database that hangs.
    const [{ isReady: ready, findings }, mayKnow] = await Promise.all([
      lookAtHealth(),
      isOnThisMachine(exchange, place) || isAdmin(exchange),
    ])
    const checks = Object.fromEntries(findings.map((finding) => [finding.part, wordOf(finding)]))
    return answerJson(ready ? 200 : 503, mayKnow ? { ready, checks } : { ready })
  }
}

type ProxyFacts = Pick<ReadyOptions, 'hasUndeclaredProxy' | 'baseUrl' | 'hasTrustedProxies'>

/**
 * Whether a program on this machine asks. Behind a reverse proxy that is not declared, every client connects
 * from loopback. So any sign of a proxy withholds the details: a forwarding header, even on an earlier
 * request, or a public base URL without --trusted-proxy. A Host other than loopback may come from a web page
 * (DNS rebinding).
 */
function isOnThisMachine({ request, clientAddress, host }: Exchange, place: ProxyFacts): boolean {
  if (!isLoopbackAddress(clientAddress) || host === null || !isLoopbackHost(host)) return false
  if (isForwarded(request.headers) || place.hasUndeclaredProxy()) return false
  const isPublic = place.baseUrl !== null && !isLoopbackHost(new URL(place.baseUrl).host)
  return place.hasTrustedProxies || !isPublic
}
