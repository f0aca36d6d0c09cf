// The time of a clock in doubt, for lists: what it has ended is shown as expired, but not written down.

import type { Now } from '../../domain/time.ts'

/** Null while the clock is trusted. */
export type FindDoubted = () => number | null

/** `certain` is behind `now` while the clock is in doubt. */
export function createFindDoubted({ now, certain }: { now: Now; certain: Now }): FindDoubted {
  return () => {
    const time = now()
    return certain() < time ? time : null
  }
}
