// The mark in a bucket that says whose the folder of objects is: what it holds, and what follows a mark that was found.

/**
 * `session` wrote the mark last, and has been the only one since `since`. `disputedAt`: when a mark last took the place of one of
 * another database; null for never. Both are times of the store.
 */
export type Mark = { session: string; since: number; disputedAt: number | null }

/** What a process writes, apart from its session. `isKnown`: this database, or the one that it is a copy of, wrote what was found. */
export function nextMark(
  found: Mark | null,
  { isKnown, now }: { isKnown: boolean; now: number },
): Omit<Mark, 'session'> {
  if (found === null) return { since: now, disputedAt: null }
  return isKnown ? found : { since: now, disputedAt: now }
}

export function presentMark(mark: Mark): Buffer<ArrayBuffer> {
  return Buffer.from(JSON.stringify(mark))
}

/** Null for any other text. */
export function parseMark(bytes: Uint8Array): Mark | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (typeof value !== 'object' || value === null || !('session' in value) || !('since' in value))
      return null
    const { session, since } = value
    const disputedAt = 'disputedAt' in value && typeof value.disputedAt === 'number' ? value.disputedAt : null
    return typeof session === 'string' && typeof since === 'number' ? { session, since, disputedAt } : null
  } catch {
    return null
  }
}
