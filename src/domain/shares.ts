// Limits on the live pushes that one address may hold without an account, so that it cannot fill the disk.

/** Live pushes, and the bytes of their sealed payloads. */
export type Share = { pushes: number; bytes: number }

/** The limits of one address; 0 means no limit. */
export type ShareLimits = Share

/** The size of one live push, and its expiry by time. */
export type TakenShare = { bytes: number; expiresAt: number }

/** The limit that another push of `bytes` would exceed, or null. */
export function exceededLimit(taken: Share, bytes: number, limits: ShareLimits): keyof Share | null {
  if (limits.pushes > 0 && taken.pushes + 1 > limits.pushes) return 'pushes'
  return limits.bytes > 0 && taken.bytes + bytes > limits.bytes ? 'bytes' : null
}

/**
 * The latest time by which there is room for another push of `bytes`. `live` lists the pushes that expire first, in
 * order. If they do not free enough, the answer is the last one's expiry. Null for a push that never fits.
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
