// What a store promises to health checks: they are answered while the disk hangs too, so a power cut may undo what they counted.

import type { PushCounts } from '../domain/listing.ts'
import type { OutboxKind } from '../domain/outbox.ts'
import type { OutboxCounts } from './notices-face.ts'

export type HealthStore = {
  /** Reads an index to its end, in steps between other requests. */
  countPushes(): Promise<PushCounts>
  countMessages(): Promise<Partial<Record<OutboxKind, OutboxCounts>>>
}
