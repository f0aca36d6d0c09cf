// What a store promises about notices.

import type { EventType } from '../domain/events.ts'

/** An event of an account. `n` numbers the events of the account in the order of their commits; `data` is JSON. */
export type ToldEvent = { n: number; type: EventType; at: number; data: string }

/** `first` is the number of the oldest event that is kept, and `last` that of the newest one ever; both 0 without any. */
export type EventRange = { first: number; last: number }

export type EventStore = {
  /** Some events after that number, oldest first, and the range of all. Once this resolves, they are durable. */
  listEvents(of: { accountId: number; after: number }): Promise<EventRange & { events: ToldEvent[] }>
  /** The last number of each of these accounts that was ever told anything. */
  readLast(accountIds: readonly number[]): Promise<ReadonlyMap<number, number>>
  /** Calls `onTold` after each durable commit of this process that told somebody something; not for those of other nodes. */
  onTold(onTold: () => void): void
  /** Tells all active administrators. */
  tellAdmins(event: { type: EventType; data: object }): Promise<void>
  /** Tells the owners of some pushes that they expire soon, each push once. Resolves to the number of pushes it looked at. */
  tellExpiring(): Promise<number>
  /** Removes some events of long ago and resolves to their number. */
  removeOld(): Promise<number>
}
