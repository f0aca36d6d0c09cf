// The sums of live anonymous pushes for each address: one row for each push, deleted when it ends, and the
// sums of these rows.

import {
  exceededLimit,
  requireRoom as requireRoomAmong,
  type Share,
  type ShareToTake,
} from '../../domain/shares.ts'
import { addTo, forSome, locked, select, statement } from '../statements.ts'
import { all, first, run, type Step } from '../steps.ts'
import { addressShares, liveShares } from '../tables.ts'

/** The most rows that are read to find out when there will be room. */
const MAX_SOONEST = 1_000

/**
 * Locks the sum of an address. Creates a missing row, because only an existing one can be locked. Adds $2 and
 * $3, and returns the sums before that.
 */
const LOCK_SUM = statement<Share>(
  `INSERT INTO address_shares (address, pushes, bytes) VALUES ($1, $2, $3)
  ON CONFLICT (address) DO UPDATE
    SET pushes = address_shares.pushes + excluded.pushes, bytes = address_shares.bytes + excluded.bytes
  RETURNING pushes - $2 AS pushes, bytes - $3 AS bytes`,
)
const OTHER_SUM = locked(select(addressShares, 'WHERE address = $1'))
const SOONEST = select(liveShares, `WHERE address = $1 ORDER BY expires_at LIMIT ${MAX_SOONEST}`)
const LOWER = statement(
  'UPDATE address_shares SET pushes = pushes - 1, bytes = bytes - $2 WHERE address = $1',
)
const REMOVE_EMPTY = statement('DELETE FROM address_shares WHERE address = $1 AND pushes <= 0')
const REMOVE = statement<{ address: Uint8Array; bytes: number }>(
  'DELETE FROM live_shares WHERE push_id = $1 RETURNING address, bytes',
)
const OF_PUSHES = forSome((ids) => select(liveShares, `WHERE push_id IN (${ids})`))
const LOCK_SUMS = forSome((list) =>
  locked(select(addressShares, `WHERE address IN (${list}) ORDER BY address`)),
)
const addRow = addTo(liveShares)

/**
 * Locks the address, so that its creates run one after another. Throws `too_many`, naming the limit, if it
 * has no room for another push.
 */
export function requireRoom(share: ShareToTake, now: number): Step<void> {
  return lockRoom(share, now, [0, 0])
}

/** Checks as `requireRoom` does, and counts the new push at once. Call `addShare` once it is stored. */
export function takeRoom(share: ShareToTake, now: number): Step<void> {
  return lockRoom(share, now, [1, share.bytes])
}

function* lockRoom(share: ShareToTake, now: number, add: [pushes: number, bytes: number]): Step<void> {
  const { addresses, bytes, limits } = share
  const [own] = addresses
  const taken = { pushes: 0, bytes: 0 }
  // Lock in a fixed order, so that no two creates wait for each other.
  for (const address of [...addresses].sort(Buffer.compare)) {
    const sum = yield* address === own ? first(LOCK_SUM, address, ...add) : first(OTHER_SUM, address)
    taken.pushes += sum?.pushes ?? 0
    taken.bytes += sum?.bytes ?? 0
  }
  if (exceededLimit(taken, bytes, limits) === null) return
  const live = []
  for (const address of addresses) live.push(...(yield* all(SOONEST, address)))
  live.sort((one, other) => one.expiresAt - other.expiresAt)
  requireRoomAmong(share, { taken, live, now })
}

/** Records which push takes the room. */
export function addShare(
  { addresses: [address], bytes }: ShareToTake,
  { id, expiresAt }: { id: number; expiresAt: number },
): Step<void> {
  return addRow({ pushId: id, address, bytes, expiresAt })
}

/** Locks the shares of several pushes in a fixed order, so that steps that end pushes cannot deadlock. */
export function* lockShares(pushIds: readonly number[]): Step<void> {
  const shares = yield* OF_PUSHES(pushIds)
  yield* LOCK_SUMS(shares.map(({ address }) => address))
}

/** Removes the share of an ended push and returns it, for `lowerShare`. */
export const removingShare = (pushId: number) => first(REMOVE, pushId)

export function* lowerShare(share: { address: Uint8Array; bytes: number }): Step<void> {
  yield* run(LOWER, share.address, share.bytes)
  yield* run(REMOVE_EMPTY, share.address)
}
