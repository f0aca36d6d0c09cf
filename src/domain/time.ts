// Lengths of time in milliseconds, and how a time is written.

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A reading of the clock, in milliseconds since 1970. */
export type Now = () => number

/** A time in the API's format: `2026-11-20T22:47:00.000Z`. */
export function formatTime(time: number): string {
  return new Date(time).toISOString()
}

/**
 * How far the readings of two nodes may be apart, which estimate the clock of the same database. A time that one node has just
 * written may be that much later than the other one's now.
 */
export const NODES_APART = 10 * SECOND
