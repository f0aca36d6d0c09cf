// Telling events: in the commit that makes them happen, numbered for each account in the order of the commits.

import { randomBase32 } from '../../crypto/random.ts'
import { describePush, type EventType } from '../../domain/events.ts'
import type { StoredPush } from '../face.ts'
import { causing, statement } from '../statements.ts'
import { run, type Step } from '../steps.ts'
import { tellWebhooks } from './webhooks.ts'

const EVENT_ID_CHARACTERS = 20

const COUNT = statement(
  `INSERT INTO event_counts (account_id, last) VALUES ($1, $2)
  ON CONFLICT (account_id) DO UPDATE SET last = event_counts.last + $2`,
)
/** Makes a row that is missing, because only an existing one can be locked. The update changes nothing but locks. */
const LOCK = statement(
  `INSERT INTO event_counts (account_id, last) VALUES ($1, 0)
  ON CONFLICT (account_id) DO UPDATE SET last = event_counts.last`,
)
const N = '(SELECT last FROM event_counts WHERE account_id = $1)'
const TELL = causing(
  'told',
  statement(`INSERT INTO events (account_id, n, type, at, data) VALUES ($1, ${N}, $2, $3, $4)`),
)
/** `$4` is what follows the id of the push, `$6` how many events are told after it. */
const TELL_OF_PUSH = causing(
  'told',
  statement(
    `INSERT INTO events (account_id, n, type, at, data)
    SELECT $1, ${N} - $6, $2, $3, '{"push":"' || event_id || '",' || $4 FROM push_labels WHERE push_id = $5`,
  ),
)

const REMOVE_OF = statement('DELETE FROM events WHERE account_id = $1')

/** Names a push in its events. */
export function newEventId(): string {
  return randomBase32(EVENT_ID_CHARACTERS)
}

/**
 * Tells the owner of a push; an anonymous push has nobody to tell. The commits of an account then come one after another, so this
 * is the last thing that a step does, or `lockCounts` came before.
 */
export function* tell(push: StoredPush, types: readonly EventType[], at: number): Step<void> {
  const { ownerId } = push
  if (ownerId === null || types.length === 0) return
  const data = JSON.stringify(describePush(push)).slice(1)
  yield* run(COUNT, ownerId, types.length)
  for (const [n, type] of types.entries())
    yield* run(TELL_OF_PUSH, ownerId, type, at, data, push.id, types.length - 1 - n)
  yield* tellWebhooks(ownerId, { pushId: push.id, forEverybody: true, events: types.length })
}

/** Tells an account of something that is no push. `forEverybody`: the webhooks of the administrators hear of it too. */
export function* tellAccount(
  accountId: number,
  { type, at, data }: { type: EventType; at: number; data: object },
  { forEverybody }: { forEverybody: boolean },
): Step<void> {
  yield* run(COUNT, accountId, 1)
  yield* run(TELL, accountId, type, at, JSON.stringify(data))
  yield* tellWebhooks(accountId, { pushId: null, forEverybody, events: 1 })
}

/** For an account that begins anew: what became of its earlier pushes is not told to it any more. */
export function removeEventsOf(accountId: number): Step<void> {
  return run(REMOVE_OF, accountId)
}

/** For events of several accounts in one step: in one order, so that no two steps wait for each other. */
export function* lockCounts(accountIds: readonly (number | null)[]): Step<void> {
  const ids = [...new Set(accountIds)].filter((id) => id !== null)
  for (const id of ids.sort((one, other) => one - other)) yield* run(LOCK, id)
}
