// What a store promises about notices: events of accounts, messages to the outside, and where they go. The
// promises at the head of contract.ts hold here too.

import type { EventType } from '../domain/events.ts'
import type { DeliveryError, OutboxKind, WebhookFormat } from '../domain/outbox.ts'

/**
 * An event of an account. `n` numbers the events of the account in the order of their commits; `data` is
 * JSON.
 */
export type ToldEvent = { n: number; type: EventType; at: number; data: string }

/**
 * `first` is the number of the oldest event that is kept, and `last` that of the newest one ever; both 0
 * without any.
 */
export type EventRange = { first: number; last: number }

export type EventLook = { last: ReadonlyMap<number, number>; validTokens: ReadonlySet<number> }

export type EventStore = {
  /**
   * Some events after that number, oldest first, and the range of all. Once this resolves, they are durable.
   */
  listEvents(of: { accountId: number; after: number }): Promise<EventRange & { events: ToldEvent[] }>
  /**
   * For those who wait: the last number of each of these accounts that was ever told anything, and which of
   * the API tokens are valid.
   */
  look(at: { accountIds: readonly number[]; tokenIds: readonly number[] }): Promise<EventLook>
  /** Tells all active administrators. */
  tellAdmins(event: { type: EventType; data: object }): Promise<void>
  /**
   * Tells the owners of some pushes that they expire soon, each push once. Resolves to the number of pushes
   * it looked at.
   */
  tellExpiring(): Promise<number>
  /** Removes some events of long ago and resolves to their number. */
  removeOld(): Promise<number>
}

/** A message that a node has taken for one try; no other node takes it before the lease has ended. */
export type DueMessage = {
  id: number
  kind: OutboxKind
  /** Null for all administrators. */
  accountId: number | null
  webhookId: number | null
  pushId: number | null
  at: number
  /** With this one. */
  tries: number
  body: string
}

/** Those that wait and those that were given up in the last days. */
export type OutboxCounts = { waiting: number; failed: number }

export type OutboxStore = {
  /**
   * Takes the message that has been due for longest, unless its receiver is `busy`: ids of webhooks, and 0
   * for mail. Those that are too old are given up. Null when nothing is due.
   */
  takeDue(busy: readonly number[], which?: { onlyMail?: boolean }): Promise<DueMessage | null>
  /** Makes due what waits after a failed try: for the start of a node, whose settings may be other ones. */
  hasten(): Promise<void>
  /** When the next message is due, which may be in the past; null when none is. */
  findNextDue(): Promise<number | null>
  /**
   * Removes a message that was delivered, which is one without an `error`; plans the next try of another. All
   * others for its webhook wait for that as well, and are due at once after a delivery. Does nothing when it
   * was removed meanwhile.
   */
  settleTry(message: DueMessage, error: DeliveryError | null): Promise<void>
  countOf(accountId: number): Promise<OutboxCounts>
}

export type StoredWebhook = {
  id: number
  /** Null: of the administrators, for the pushes of everybody. */
  accountId: number | null
  host: string
  /** URL and secret. */
  sealed: Uint8Array
  format: WebhookFormat
  events: string[]
  withName: boolean
  createdAt: number
  lastDelivery: number | null
  lastError: DeliveryError | null
}

export type WebhookToStore = Omit<StoredWebhook, 'id' | 'createdAt' | 'lastDelivery' | 'lastError'>

export type ListedWebhook = StoredWebhook & OutboxCounts

export type WebhookStore = {
  /** Throws `invalid` above MOST_WEBHOOKS, `unauthenticated` when the account is not active. */
  addWebhook(webhook: WebhookToStore): Promise<StoredWebhook>
  listWebhooks(accountId: number | null): Promise<ListedWebhook[]>
  findWebhook(id: number): Promise<StoredWebhook | null>
  /** Its messages go with it. False when this account, or null the administrators, have no such webhook. */
  removeWebhook(of: { id: number; accountId: number | null }): Promise<boolean>
  /** Writes down how a test went. */
  noteTest(id: number, error: DeliveryError | null): Promise<void>
}
