// The records of events, messages and webhooks that services and the store exchange.

import type { EventType } from '../domain/events.ts'
import type { DeliveryFailure, OutboxKind, WebhookFormat } from '../domain/outbox.ts'

/**
 * An event of an account. `n` numbers the events of the account in the order of their commits; `data` is
 * JSON.
 */
export type AccountEvent = { n: number; type: EventType; at: number; data: string }

/**
 * `first`: the number of the oldest event that is still stored. `last`: that of the newest event there ever
 * was. Both are 0 if there was none.
 */
export type EventRange = { first: number; last: number }

export type EventLook = { last: ReadonlyMap<number, number>; validTokens: ReadonlySet<number> }

/** A message that a node has leased for one attempt. No other node takes it before the lease ends. */
export type DueMessage = {
  id: number
  kind: OutboxKind
  /** The recipient; null for all administrators. */
  accountId: number | null
  webhookId: number | null
  pushId: number | null
  at: number
  /** The number of tries, this one included. */
  tries: number
  body: string
}

/** The numbers of messages that wait, and of those that were given up in the last days. */
export type OutboxCounts = { waiting: number; failed: number }

export type StoredWebhook = {
  id: number
  /** The owner; null for a webhook of the administrators, which covers the pushes of all accounts. */
  accountId: number | null
  host: string
  /** URL and secret. */
  sealed: Uint8Array
  format: WebhookFormat
  events: string[]
  withName: boolean
  createdAt: number
  lastDelivery: number | null
  lastError: DeliveryFailure | null
  lastFailure: number | null
}

export type WebhookToStore = Omit<
  StoredWebhook,
  'id' | 'createdAt' | 'lastDelivery' | 'lastError' | 'lastFailure'
>

export type ListedWebhook = StoredWebhook & OutboxCounts
