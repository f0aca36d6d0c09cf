// Limits on the live anonymous pushes of one address, so that it cannot fill the disk.

import { MAX_ENTRY_BYTES } from './audit.ts'
import { DomainError, type ErrorDetails, retrySeconds } from './errors.ts'
import { formatTime } from './time.ts'

/** A number of live pushes, and their bytes. */
export type Share = { pushes: number; bytes: number }

/**
 * Returns the bytes that an anonymous push may need: its sealed payload, and log entries for its creation,
 * its views and its end.
 */
export function shareBytes({ payload, views }: { payload: number; views: number }): number {
  return payload + (views + 2) * MAX_ENTRY_BYTES
}

/** The limits of one address; 0 means no limit. */
export type ShareLimits = Share

/** The part of its creator's share that a new push takes. */
export type ShareToTake = {
  /** Keyed hashes of the address, one for each instance key; the first is that of the sealing key. */
  addresses: readonly [Uint8Array, ...Uint8Array[]]
  bytes: number
  limits: ShareLimits
}

/** The size of one live push, and its expiry by time. */
type TakenShare = { bytes: number; expiresAt: number }

/** Returns the limit that another push of `bytes` would exceed, or null. */
export function exceededLimit(taken: Share, bytes: number, limits: ShareLimits): keyof Share | null {
  if (limits.pushes > 0 && taken.pushes + 1 > limits.pushes) return 'pushes'
  return limits.bytes > 0 && taken.bytes + bytes > limits.bytes ? 'bytes' : null
}

/**
 * Returns when there will be room for another push of `bytes`, at the latest; null for a push that never
 * fits. `live` lists, in order, the pushes that expire first. If they do not free enough, returns the expiry
 * of the last one.
 */
export function findRoom(
  taken: Share,
  bytes: number,
  { live, limits }: { live: readonly TakenShare[]; limits: ShareLimits },
): number | null {
  if (limits.bytes > 0 && bytes > limits.bytes) return null
  const left = { ...taken }
  for (const { bytes: freed, expiresAt } of live) {
    left.pushes -= 1
    left.bytes -= freed
    if (exceededLimit(left, bytes, limits) === null) return expiresAt
  }
  return live.at(-1)?.expiresAt ?? null
}

/**
 * Throws `too_many`, naming the limit and its flag, if there is no room for another push of `bytes`. `taken`
 * may still count pushes of `live` whose expiry is not yet recorded.
 */
export function requireRoom(
  { bytes, limits }: { bytes: number; limits: ShareLimits },
  { taken, live, now }: { taken: Share; live: readonly TakenShare[]; now: number },
): void {
  const lapsed = live.filter(({ expiresAt }) => expiresAt <= now)
  const left = {
    pushes: taken.pushes - lapsed.length,
    bytes: lapsed.reduce((sum, { bytes: freed }) => sum - freed, taken.bytes),
  }
  const limit = exceededLimit(left, bytes, limits)
  if (limit === null) return
  const roomAt = findRoom(taken, bytes, { live, limits })
  throw noRoom({ limit, most: limits[limit], roomAt }, now)
}

function noRoom(room: NonNullable<ErrorDetails['room']>, now: number): DomainError {
  const { limit, most, roomAt } = room
  const what =
    limit === 'pushes'
      ? `has ${most} live pushes already, the most without an account (--max-live-pushes-per-address)`
      : `may have live pushes of ${most} bytes in all without an account (--max-live-bytes-per-address)`
  const when =
    roomAt === null ? 'this one alone has more' : `there is room again at ${formatTime(roomAt)} at the latest`
  const retryAfter = retrySeconds((roomAt ?? Number.POSITIVE_INFINITY) - now)
  return new DomainError('too_many', `Your address ${what}: ${when}.`, { retryAfter, room })
}
