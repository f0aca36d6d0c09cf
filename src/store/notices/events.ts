// Events: recorded in the commit that causes them, and numbered for each account in the order of the commits.

import { randomBase32 } from '../../crypto/random.ts'
import { describePush, type EventType } from '../../domain/events.ts'
import type { StoredPush } from '../pushes-contract.ts'
import { locked, statement } from '../statements.ts'
import { first, run, type Step, together } from '../steps.ts'
import { type NewEvent, tellWebhooks } from './webhooks.ts'

const EVENT_ID_CHARACTERS = 20

const COUNT = statement(
  `INSERT INTO event_counts (account_id, last) VALUES ($1, 1)
  ON CONFLICT (account_id) DO UPDATE SET last = event_counts.last + 1`,
)
/**
 * Locks the counter of an account. Creates a missing row, because only an existing one can be locked, unless
 * the account is gone. The update changes nothing; it only locks.
 */
const LOCK = statement(
  `INSERT INTO event_counts (account_id, last) SELECT id, 0 FROM accounts WHERE id = $1
  ON CONFLICT (account_id) DO UPDATE SET last = event_counts.last`,
)
/** Locks an account like a create: against its removal and its reset. */
const HOLD = locked(statement<{ id: number }>('SELECT id FROM accounts WHERE id = $1'), 'FOR KEY SHARE')
const TELL = statement(
  `INSERT INTO events (account_id, n, type, at, data)
    VALUES ($1, (SELECT last FROM event_counts WHERE account_id = $1), $2, $3, $4)`,
)
const ID_OF_PUSH = statement<{ eventId: string }>(
  'SELECT event_id AS "eventId" FROM push_labels WHERE push_id = $1',
)
const COUNT_FROM = statement(
  `INSERT INTO event_counts (account_id, last) SELECT id, $1 FROM accounts WHERE true
  ON CONFLICT (account_id) DO UPDATE SET last =
    CASE WHEN event_counts.last > excluded.last THEN event_counts.last ELSE excluded.last END`,
)

/** Makes a random id that names a push in its events. */
export function newEventId(): string {
  return randomBase32(EVENT_ID_CHARACTERS)
}

/**
 * Adds an event for the owner of a push; an anonymous push has none. The commits of an account are sequential
 * from here on, so call this last in a step, or call `lockCounts` first.
 */
export function* tell(push: StoredPush, types: readonly EventType[], at: number): Step<void> {
  const { ownerId } = push
  if (ownerId === null || types.length === 0) return
  // Read the label after the wait for the lock: if the account was reset meanwhile, the push is no longer its
  // own.
  const [owner, label] = yield* together(first(HOLD, ownerId), first(ID_OF_PUSH, push.id))
  if (owner === null || label === null) return
  const data = { push: label.eventId, ...describePush(push, at) }
  for (const type of types)
    yield* tellAccount(ownerId, { type, at, data }, { pushId: push.id, forEverybody: true })
}

/**
 * Locks the account for a step that sends it an event later. Call this before the step changes rows that a
 * removal of the account changes too; otherwise the two deadlock.
 */
export function holdAccount(id: number): Step<void> {
  return run(HOLD, id)
}

/** Adds an event for an account. `forEverybody`: also for the webhooks of the administrators. */
export function* tellAccount(
  accountId: number,
  event: NewEvent,
  of: { pushId: number | null; forEverybody: boolean },
): Step<void> {
  yield* run(COUNT, accountId)
  yield* run(TELL, accountId, event.type, event.at, JSON.stringify(event.data))
  yield* tellWebhooks(accountId, event, of)
}

/**
 * Locks the counters of several accounts in a fixed order, so that steps with events for several accounts
 * cannot deadlock.
 */
export function* lockCounts(accountIds: readonly (number | null)[]): Step<void> {
  const ids = [...new Set(accountIds)].filter((id) => id !== null)
  for (const id of ids.sort((one, other) => one - other)) {
    yield* holdAccount(id)
    yield* run(LOCK, id)
  }
}

/**
 * Numbers the later events of all accounts from `at` on, in milliseconds since 1970, and never lower than
 * before. Called by a restore and an accepted move, so that no new event gets the number of a lost one.
 */
export function countEventsFrom(at: number): Step<void> {
  return run(COUNT_FROM, at)
}
