// What a store promises to health checks: they are answered while the disk hangs too, so a power cut may undo
// what they counted.

import type { PushCounts } from '../domain/listing.ts'
import type { DeliveryError, OutboxKind } from '../domain/outbox.ts'
import type { OutboxCounts } from './notices-contract.ts'

export type HealthStore = {
  /** Reads an index to its end, in steps between other requests. */
  countPushes(): Promise<PushCounts>
  /**
   * How many webhooks of a host failed at their last try, and why; some hosts, those with most of them first.
   */
  listFailingWebhooks(): Promise<{ host: string; error: DeliveryError; count: number }[]>
  countMessages(): Promise<Partial<Record<OutboxKind, OutboxCounts>>>
}
