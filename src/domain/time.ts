// Lengths of time in milliseconds, and how a time is written.

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The last millisecond of the year 9999. No later one has a place in an answer. */
export const LAST_TIME = Date.UTC(10_000, 0) - 1

/** A reading of the clock, in milliseconds since 1970. */
export type Now = () => number

declare const whole: unique symbol
/** Milliseconds without a fraction. Times are stored in columns of integers, which refuse a fraction. */
export type Milliseconds = number & { readonly [whole]: true }

export function wholeMilliseconds(time: number): Milliseconds {
  return Math.floor(time) as Milliseconds
}

/** How long the machine has been running, also while it slept. */
export type Uptime = () => Milliseconds

/** ECMAScript knows no later date, and no earlier one below zero. */
const LAST_DATE = 8.64e15

/**
 * A time in the API's format: `2026-11-20T22:47:00.000Z`. A time beyond all dates is shown as the last one.
 */
export function formatTime(time: number): string {
  const place = Math.abs(Math.trunc(time) % PLACES)
  if (times[place] !== time) {
    times[place] = time
    texts[place] = new Date(Math.max(-LAST_DATE, Math.min(LAST_DATE, time))).toISOString()
  }
  return texts[place] ?? ''
}

/**
 * Many times come again soon: a push was created when it was changed last, and others were in the same
 * millisecond.
 */
const times: number[] = []
const texts: string[] = []
/** A prime, so that a time and the one some days later have different places. */
const PLACES = 61

/**
 * How far the readings of two nodes may be apart, which estimate the clock of the same database. A time that
 * one node has just written may be that much later than the other one's now.
 */
export const NODES_APART = 10 * SECOND

/** A length of time as people read it: `0.4 s`, `42 s`, `7 min`, `3 h 20 min`. */
export function formatLength(ms: number): string {
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`
  const minutes = Math.round(ms / MINUTE)
  if (minutes < 120) return `${minutes} min`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
