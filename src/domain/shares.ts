// How much one address may hold at a time for people without an account, so that no neighbour fills the disk.

/** Live pushes, and the bytes of their sealed payloads. */
export type Share = { pushes: number; bytes: number }

/** The most that one address may hold; 0 for no limit. */
export type ShareLimits = Share

/** What one live push takes, and until when at the latest. */
export type TakenShare = { bytes: number; expiresAt: number }

/** The limit that one more push of so many bytes would exceed, or null. */
export function exceededLimit(taken: Share, bytes: number, limits: ShareLimits): keyof Share | null {
  if (limits.pushes > 0 && taken.pushes + 1 > limits.pushes) return 'pushes'
  return limits.bytes > 0 && taken.bytes + bytes > limits.bytes ? 'bytes' : null
}

/**
 * When there is room for one more push of so many bytes, at the latest. `live` are those that expire first, soonest
 * first; the time of the last one when all of them are not enough. Null for a push that never fits.
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
