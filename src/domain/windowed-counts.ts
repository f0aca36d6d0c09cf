// Counts by name, each within a window of time that begins with the first count. Nothing waits, so that no two callers see the
// same count.

import type { Now } from './time.ts'

/** `until` is the end of the window; of one that has not begun, the end if it began now. */
export type WindowedCount = { spent: number; until: number }

export function createWindowedCounts({ window, now }: { window: number; now: Now }) {
  /** Ordered by the end of their windows. */
  const counts = new Map<string, WindowedCount>()

  function forgetLapsed(): void {
    const time = now()
    for (const [name, { until }] of counts) {
      if (isCurrent({ until, window }, time)) return
      counts.delete(name)
    }
  }

  function read(name: string): WindowedCount {
    forgetLapsed()
    return counts.get(name) ?? { spent: 0, until: now() + window }
  }

  /** Counts one. Returns the state before, with the end of the window that it was counted in. */
  function spend(name: string): WindowedCount {
    const { spent, until } = read(name)
    counts.set(name, { spent: spent + 1, until })
    return { spent, until }
  }

  /** Takes one back, unless its window has ended. */
  function giveBack(name: string, { until }: Pick<WindowedCount, 'until'>): void {
    const count = counts.get(name)
    if (count?.until === until && count.spent > 0) counts.set(name, { spent: count.spent - 1, until })
  }

  return { read, spend, giveBack }
}

/**
 * Whether a window has not ended yet. An end more than a window away was set while the clock was ahead. `slack` is how far
 * clocks may be apart.
 */
export function isCurrent(
  { until, window, slack = 0 }: { until: number; window: number; slack?: number },
  time: number,
): boolean {
  return until > time && until <= time + window + slack
}
