// Lengths of time in milliseconds, and how a time is written.

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The last millisecond of the year 9999, the latest that answers can show. */
export const LAST_TIME = Date.UTC(10_000, 0) - 1

/** A reading of the clock, in milliseconds since 1970. */
export type Now = () => number

declare const whole: unique symbol
/** Rounds to whole milliseconds, because times are stored in integer columns. */
type Milliseconds = number & { readonly [whole]: true }

export function wholeMilliseconds(time: number): Milliseconds {
  return Math.floor(time) as Milliseconds
}

/** Returns the milliseconds since the machine started, including sleep. */
export type Uptime = () => Milliseconds

/** The bounds of ECMAScript's dates; times below zero are not used. */
const LAST_DATE = 8.64e15

/**
 * Formats a time for the API: `2026-11-20T22:47:00.000Z`. A time beyond the range of dates becomes its limit.
 */
export function formatTime(time: number): string {
  const place = Math.abs(Math.trunc(time) % PLACES)
  if (times[place] !== time) {
    times[place] = time
    texts[place] = new Date(Math.max(-LAST_DATE, Math.min(LAST_DATE, time))).toISOString()
  }
  return texts[place] ?? ''
}

/** Caches formatted times, because many repeat: creation and last change of a push are often the same. */
const times: number[] = []
const texts: string[] = []
/** A prime, so that times some days apart fall into different slots. */
const PLACES = 61

/**
 * The largest difference between the clocks of two nodes, which both estimate the database's clock. A time
 * written by another node may be this much later than now here.
 */
export const NODES_APART = 10 * SECOND

/** Formats a duration for people: `0.4 s`, `42 s`, `7 min`, `3 h 20 min`. */
export function formatLength(ms: number): string {
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`
  const minutes = Math.round(ms / MINUTE)
  if (minutes < 120) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
