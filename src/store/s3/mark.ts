// The text of the mark in a bucket that says whose the folder of objects is.

/**
 * `session` wrote the mark last, and has been the only one since `since`. `disputedAt`: when a mark last took the place of one of
 * another database; null for never. Both are times of the store.
 */
export type Mark = { session: string; since: number; disputedAt: number | null }

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
