// The events of accounts: read by number, removed after a week. Also makes the events that no visit causes:
// pushes that expire soon, and events for administrators.

import { NO_PASSWORD, PAUSE_TOLD_BEFORE, tokensPauseAt } from '../../domain/account.ts'
import { type EventType, expiresSoon, KEPT_FOR, SOON } from '../../domain/events.ts'
import { formatTime } from '../../domain/time.ts'
import { presentAccount } from '../accounts/accounts.ts'
import type { AccountEvent, EventLook, EventRange } from '../notices-contract.ts'
import { lockPushes } from '../pushes/push-locks.ts'
import { forSome, locked, type RowOf, select, statement } from '../statements.ts'
import { all, only, type Parts, run, type Step } from '../steps.ts'
import { accounts, eventCounts, events, type soonTold } from '../tables.ts'
import { lockCounts, tell, tellAccount } from './events.ts'

/** The maximum number of events in one answer. */
const PAGE = 500
/** How many rows one step removes. */
const SOME = 1_000
/** Pushes that one step examines; anonymous ones cost little. */
const MANY = 200

const AFTER = select(events, `WHERE account_id = $1 AND n > $2 ORDER BY n LIMIT ${PAGE}`)
const RANGE = statement<EventRange>(
  `SELECT coalesce((SELECT min(n) FROM events WHERE account_id = $1), 0) AS first,
    coalesce((SELECT last FROM event_counts WHERE account_id = $1), 0) AS last`,
)
const LAST = forSome((ids) => select(eventCounts, `WHERE account_id IN (${ids})`))
const VALID = forSome((ids) =>
  statement<{ id: number }>(
    `SELECT id FROM api_tokens WHERE id IN (${ids})
      AND EXISTS (SELECT 1 FROM accounts a WHERE a.id = account_id AND a.disabled_at IS NULL)`,
  ),
)
const REMOVE_OLD = statement<{ one: number }>(
  `DELETE FROM events WHERE (account_id, n) IN
    (SELECT account_id, n FROM events WHERE at <= $1 ORDER BY at LIMIT ${SOME})
  RETURNING 1 AS one`,
)
/**
 * Selects accounts without a password whose API tokens pause soon, and whose owners were not notified yet.
 */
const PAUSING = locked(
  select(
    accounts,
    `WHERE password_hash = '${NO_PASSWORD}' AND last_sign_in_at <= $1 AND created_at <= $1 AND NOT is_service
    AND disabled_at IS NULL AND (pause_told_at IS NULL OR pause_told_at < last_sign_in_at)
    AND EXISTS (SELECT 1 FROM api_tokens WHERE account_id = accounts.id) ORDER BY last_sign_in_at LIMIT ${MANY}`,
  ),
)
const SET_PAUSE_TOLD = statement('UPDATE accounts SET pause_told_at = $2 WHERE id = $1')
const ADMINS = locked(select(accounts, 'WHERE is_admin AND disabled_at IS NULL ORDER BY id'), 'FOR KEY SHARE')
const LOCK_SOON = statement<RowOf<typeof soonTold>>(
  `INSERT INTO soon_told (id, ends_at, push_id) VALUES (1, 0, 0) ON CONFLICT (id) DO UPDATE SET id = 1
  RETURNING id, ends_at AS "endsAt", push_id AS "pushId"`,
)
const SET_SOON = statement('UPDATE soon_told SET ends_at = $1, push_id = $2')
const ENDING = statement<{ id: number; ownerId: number | null; expiresAt: number }>(
  `SELECT id, owner_id AS "ownerId", expires_at AS "expiresAt" FROM pushes
  WHERE expired_on IS NULL AND (expires_at, id) > ($1, $2) AND expires_at <= $3 ORDER BY expires_at, id LIMIT ${MANY}`,
)

type Waiters = { accountIds: readonly number[]; tokenIds: readonly number[] }

export function createEventLog({ steps, now, trusted }: Pick<Parts, 'steps' | 'now' | 'trusted'>) {
  const { read, write } = steps

  function* list(accountId: number, after: number): Step<EventRange & { events: AccountEvent[] }> {
    const events = yield* all(AFTER, accountId, after)
    // Read this after the events, so that events removed in between are reported as removed.
    const range = yield* only(RANGE, accountId)
    return { ...range, events }
  }

  function* look({ accountIds, tokenIds }: Waiters): Step<EventLook> {
    const counts = yield* LAST(accountIds)
    const tokens = yield* VALID(tokenIds)
    return {
      last: new Map(counts.map(({ accountId, last }) => [accountId, last])),
      validTokens: new Set(tokens.map(({ id }) => id)),
    }
  }

  /**
   * Announces some pushes; a later step continues where this one stopped. The row is locked, so each push is
   * announced once, by any node.
   */
  function* tellSome(at: number): Step<number> {
    const from = yield* only(LOCK_SOON)
    const until = at + SOON
    const found = yield* all(ENDING, from.endsAt, from.pushId, until)
    const owned = yield* lockPushes(found.filter(({ ownerId }) => ownerId !== null).map(({ id }) => id))
    for (const push of owned) if (expiresSoon(push, at)) yield* tell(push, ['push.expires_soon'], at)
    const last = found.length < MANY ? undefined : found.at(-1)
    yield* run(SET_SOON, last?.expiresAt ?? until, last?.id ?? Number.MAX_SAFE_INTEGER)
    return last === undefined ? 0 : found.length
  }

  /** Notifies each owner, and the administrators, who learn which account it is. */
  function* tellSomePausing(at: number, after: number): Step<number> {
    const found = yield* all(PAUSING, at - after + PAUSE_TOLD_BEFORE)
    if (found.length === 0) return 0
    const admins = yield* all(ADMINS)
    yield* lockCounts([...found, ...admins].map(({ id }) => id))
    for (const row of found) {
      const pausesAt = tokensPauseAt({ ...presentAccount(row), lastSignInAt: row.lastSignInAt }, after) ?? at
      const data = { account: row.email, pauses_at: formatTime(pausesAt) }
      const event = { type: 'token.pauses_soon', at, data } as const
      yield* run(SET_PAUSE_TOLD, row.id, at)
      const others = admins.filter(({ id }) => id !== row.id)
      for (const [n, { id }] of [row, ...others].entries())
        yield* tellAccount(id, event, { pushId: null, forEverybody: n === 0 })
    }
    return found.length
  }

  return {
    /**
     * Lists some events after that number, oldest first, and the range of all. Once this resolves, they are
     * durable.
     */
    listEvents: ({ accountId, after }: { accountId: number; after: number }) =>
      read(
        () => list(accountId, after),
        ({ last }) => last <= after,
      ),
    /**
     * Finds, for waiting clients, the number of each account's newest event, and which API tokens are still
     * valid.
     */
    look: (at: Waiters) =>
      read(
        () => look(at),
        ({ validTokens }) => validTokens.size === at.tokenIds.length,
      ),
    /** Notifies all active administrators. */
    tellAdmins: (event: { type: EventType; data: object }) =>
      write(function* () {
        const admins = yield* all(ADMINS)
        yield* lockCounts(admins.map(({ id }) => id))
        for (const [n, { id }] of admins.entries())
          yield* tellAccount(id, { ...event, at: now() }, { pushId: null, forEverybody: n === 0 })
      }),
    /**
     * Notifies the owners of some pushes that they expire soon, once for each push. Resolves to the number of
     * pushes it looked at.
     */
    async tellExpiring() {
      const at = trusted()
      return at === null ? 0 : write(() => tellSome(at))
    },
    /**
     * Tells the owners of some API tokens that they pause soon, once before each pause. `after`: milliseconds
     * without a sign-in; 0 is never. Resolves to the number of owners.
     */
    async tellPausing(after: number) {
      const at = trusted()
      return at === null || after === 0 ? 0 : write(() => tellSomePausing(at, after))
    },
    /** Removes some old events and resolves to their number. */
    removeOld: async () => (await write(() => all(REMOVE_OLD, now() - KEPT_FOR))).length,
  }
}
