// The idempotency key of a request, and to whom it belongs.

import type { Viewer } from '../../domain/audit.ts'
import type { PresentedKey } from '../../services/pushes/idempotency.ts'
import { limitKey } from '../door/client-address.ts'
import type { Exchange } from '../door/exchange.ts'

/** Null without the header; what it holds is not looked at yet. */
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

/** An account; without one, an address as it is limited: `localhost` is one address, and so is a /64 of IPv6. */
export function keyScopeOf({ account, visit }: Viewer): string {
  return account === null ? `address ${limitKey(visit.ip) ?? 'loopback'}` : `account ${account.id}`
}
