// Which pushes are in an owner's list. Written so that PostgreSQL finds them by the indexes of live and of ended pushes.

export type OwnedList = {
  expired: boolean
  /** By a clock in doubt: what it has ended is listed as expired, though that is not recorded. Null for a trusted one. */
  doubted: number | null
}

/** A condition on the pushes `p`, for the owner $1; $2 is the time of a clock in doubt. */
export function isInList({ expired, doubted }: OwnedList): string {
  return `p.owner_id = $1 AND ${hasEnded(expired, doubted !== null)}`
}

/** Its parameters. */
export function ownedValues(ownerId: number, { doubted }: OwnedList): number[] {
  return doubted === null ? [ownerId] : [ownerId, doubted]
}

function hasEnded(expired: boolean, isDoubted: boolean): string {
  if (!isDoubted) return expired ? 'p.expired_on IS NOT NULL' : 'p.expired_on IS NULL'
  return expired
    ? '(p.expired_on IS NOT NULL OR (p.expired_on IS NULL AND p.expires_at <= $2))'
    : 'p.expired_on IS NULL AND p.expires_at > $2'
}
