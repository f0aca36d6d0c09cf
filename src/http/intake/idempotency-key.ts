// The idempotency key of a request, and its scope.

import type { Viewer } from '../../domain/audit.ts'
import { networkOf } from '../../domain/client.ts'
import type { PresentedKey } from '../../pushes/idempotency.ts'
import type { Exchange } from '../door/exchange.ts'

/** Null without the header. Does not check the value. */
export function presentedKey({
  exchange,
  viewer,
}: {
  exchange: Exchange
  viewer: Viewer
}): PresentedKey | null {
  const key = exchange.request.headers.get('idempotency-key')
  return key === null ? null : { key, scope: keyScopeOf(viewer) }
}

/** The account or, without one, the address: loopback is one, and so is an IPv6 /64. */
export function keyScopeOf({ account, visit }: Viewer): string {
  return account === null ? `address ${networkOf(visit.ip) ?? 'loopback'}` : `account ${account.id}`
}
