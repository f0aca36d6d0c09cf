// Stored requests for secrets, and the answers that are reserved during their uploads. Every change holds the
// lock of the request's row.

import { PAGE_SIZE } from '../domain/audit.ts'
import { DomainError } from '../domain/errors.ts'
import {
  decideAnswer,
  decideWrongTry,
  hasRoomForAnswer,
  isOver,
  RESERVATION_LIFETIME,
  type WrongTry,
} from '../domain/requests.ts'
import type { ShareToTake } from '../domain/shares.ts'
import { NODES_APART } from '../domain/time.ts'
import { findOwner, holdOwner, requireActive } from './accounts/accounts.ts'
import { requireRoom } from './pushes/address-shares.ts'
import { enterUpload } from './pushes/file-rows.ts'
import type { AnswerToStore, LinkedRequest, RequestToStore, StoredRequest } from './requests-contract.ts'
import { insertForId, insertInto, locked, select, statement, updateOf } from './statements.ts'
import { all, first, type Parts, run, type Step } from './steps.ts'
import { requestReservations, requests } from './tables.ts'

/** Rows that one step removes at most. */
const SOME = 500
const GROWS = { grows: true }

const FIND = select(requests, 'WHERE lookup = $1')
const LOCK = locked(select(requests, 'WHERE id = $1'))
const PAGE = select(requests, `WHERE account_id = $1 ORDER BY id DESC LIMIT ${PAGE_SIZE} OFFSET $2`)
const insert = insertInto(requests)
const update = updateOf(requests, ['answers', 'closedAt', 'wrongTries', 'wrongTriesSince', 'wrongTriesInAll'])
/**
 * Counts valid reservations. Ignores one that ends later than a new one would: it was made while the clock
 * was ahead.
 */
const RESERVED = statement<{ n: number }>(
  'SELECT count(*) AS n FROM request_reservations WHERE request_id = $1 AND id <> $2 AND until > $3 AND until <= $4',
)
const reserveRow = insertForId(requestReservations)
const FREE = statement('DELETE FROM request_reservations WHERE id = $1')
/** Ids of reservations begin at 1. */
const NO_RESERVATION = 0
const PURGE = statement<{ id: number }>(
  `DELETE FROM requests WHERE id IN (
    SELECT id FROM requests WHERE expires_at <= $1 OR closed_at <= $1 LIMIT ${SOME}) RETURNING id`,
)
const REMOVE_LAPSED = statement<{ id: number }>(
  `DELETE FROM request_reservations WHERE id IN (
    SELECT id FROM request_reservations WHERE until <= $1 LIMIT ${SOME}) RETURNING id`,
)
/**
 * Counts requests by sealing key, for rekeying: the second byte of a sealed value is the number of its key.
 */
export const REQUEST_KEYS = "SELECT 'request', substr(url_token, 1, 2), count(*) FROM requests GROUP BY 2"
const ALL = select(requests, 'ORDER BY id')
const relink = updateOf(requests, ['lookup', 'keyNumber', 'urlToken', 'name', 'message', 'verifier'])
export const REMOVE_REQUESTS = 'DELETE FROM requests'

type AnswerToReserve = { id: number; share: ShareToTake | null; fileId: string }

export function createRequests({ steps, now, node }: Pick<Parts, 'steps' | 'now' | 'node'>) {
  const { read, write } = steps

  function* add(request: RequestToStore, resets: number): Step<StoredRequest> {
    yield* requireActive(request.accountId, resets)
    return yield* insert(request)
  }

  function* find(lookup: Uint8Array): Step<StoredRequest | null> {
    const request = yield* first(FIND, lookup)
    const owner = request && (yield* findOwner(request.accountId))
    return request && { ...request, closedAt: request.closedAt ?? owner?.disabledAt ?? null }
  }

  function* close({ id, accountId }: { id: number; accountId: number }): Step<StoredRequest | null> {
    const request = yield* first(LOCK, id)
    if (request === null || request.accountId !== accountId) return null
    const time = now()
    if (isOver(request, time)) return request
    const closed = { ...request, closedAt: time }
    yield* update(closed)
    return closed
  }

  function* refuse({ id, maxTries }: { id: number; maxTries: number }): Step<WrongTry<StoredRequest> | null> {
    const before = yield* first(LOCK, id)
    if (before === null) return null
    const decided = decideWrongTry(before, maxTries, now())
    if (decided.outcome === 'refused') yield* update(decided.request)
    return decided
  }

  function* reserve({ id, share, fileId }: AnswerToReserve): Step<number | null> {
    const request = yield* first(LOCK, id)
    const time = now()
    if (request === null || isOver(request, time)) return null
    if (!hasRoomForAnswer(request, yield* countReserved(id, time), time)) throw held()
    if (share !== null) yield* requireRoom(share, time)
    yield* enterUpload(fileId, node)
    return (yield* reserveRow({ requestId: id, until: time + RESERVATION_LIFETIME })).id
  }

  function* purge(until: number): Step<number> {
    return (yield* all(PURGE, until)).length + (yield* all(REMOVE_LAPSED, now())).length
  }

  return {
    /** Throws `unauthenticated` if the account is disabled, or was reset more than `resets` times. */
    addRequest: (request: RequestToStore, resets: number) => write(() => add(request, resets), GROWS),
    /**
     * Finds a request by its link. The requests of a disabled account are closed for as long as it is
     * disabled.
     */
    findRequest: (lookup: Uint8Array) =>
      read(
        () => find(lookup),
        (found) => found !== null && !isOver(found, now()),
      ),
    /** Lists the newest first, 50 a page, from page 1. */
    listRequests: ({ accountId, pageNumber }: { accountId: number; pageNumber: number }) =>
      read(() => all(PAGE, accountId, (pageNumber - 1) * PAGE_SIZE)),
    /**
     * Closes a request. Leaves one that is over unchanged. Returns null if this account has no such request.
     */
    closeRequest: (which: { id: number; accountId: number }) => write(() => close(which)),
    /**
     * Counts a wrong passphrase; the last of `maxTries` (0: no limit) closes the request. Returns null if the
     * request is gone. `limited`: nothing was written.
     */
    refusePassphrase: (wrong: { id: number; maxTries: number }) => write(() => refuse(wrong)),
    /**
     * Reserves an answer for an upload, for ten minutes, and enters its first file, which `keepFile` need not
     * enter again. Returns the number of the reservation; null if the request accepts no more. Throws
     * `overloaded` while uploads hold all remaining answers, and `too_many` if the sender's address has no
     * room.
     */
    reserveAnswer: (which: AnswerToReserve) => write(() => reserve(which), GROWS),
    freeReservation: (reservation: number) => write(() => run(FREE, reservation)),
    /**
     * Removes some requests that ended at `until` or before, and reservations that have lapsed. Resolves to
     * their number.
     */
    purge: (until: number) => write(() => purge(until)),
  }
}

/**
 * Counts an answer that this transaction stores, and ends its reservation. Throws `not_found` for a removed
 * request, `gone` for one that accepts no more answers, and `overloaded` while uploads hold all remaining
 * answers.
 */
export function* takeAnswer(
  { requestId, reservation }: AnswerToStore,
  { accountId, now }: { accountId: number | null; now: number },
): Step<void> {
  const owner = accountId === null ? null : yield* holdOwner(accountId)
  const before = yield* first(LOCK, requestId)
  if (owner === null || before === null || before.accountId !== owner.id)
    throw new DomainError('not_found', 'not-found')
  if (owner.disabledAt !== null || isOver(before, now)) throw new DomainError('gone', 'request-closed')
  const reserved = yield* countReserved(requestId, now, reservation ?? NO_RESERVATION)
  const after = decideAnswer(before, reserved, now)
  if (after === null) throw held()
  yield* update(after)
  if (reservation !== null) yield* run(FREE, reservation)
}

function held(): DomainError {
  const message = 'Another upload holds the last answer that this request takes; try again in a minute.'
  return new DomainError('overloaded', message, { retryAfter: 60, isHeld: true })
}

/** Counts the answers that other uploads than `own` have reserved. */
function* countReserved(id: number, now: number, own = NO_RESERVATION): Step<number> {
  const latest = now + RESERVATION_LIFETIME + NODES_APART
  return (yield* first(RESERVED, id, own, now, latest))?.n ?? 0
}

/** Changes the links and texts of all requests. Null leaves one unchanged. */
export function* relinkRequests(change: (request: StoredRequest) => LinkedRequest | null): Step<void> {
  for (const request of yield* all(ALL)) {
    const linked = change(request)
    if (linked !== null) yield* relink({ ...linked, id: request.id })
  }
}
