// Counts tries by key within a window of time. It is synchronous, so that concurrent tries are all counted.

import type { Now } from '../../domain/time.ts'

export type TryBudget = ReturnType<typeof createTryBudget>

export function createTryBudget({ tries, window, now }: { tries: number; window: number; now: Now }) {
  /** Ordered by the end of their windows. */
  const spentBy = new Map<string, { spent: number; until: number }>()

  function forgetLapsed(): void {
    const time = now()
    for (const [key, { until }] of spentBy) {
      // An end more than a window away was set while the clock was ahead.
      if (until > time && until <= time + window) return
      spentBy.delete(key)
    }
  }

  function entryOf(key: string) {
    forgetLapsed()
    return spentBy.get(key) ?? { spent: 0, until: now() + window }
  }

  /** Counts a try; returns a function that takes it back. */
  function spend(key: string): () => void {
    const entry = entryOf(key)
    entry.spent += 1
    spentBy.set(key, entry)
    return () => {
      entry.spent -= 1
    }
  }

  return {
    spend,
    spent: (key: string): number => entryOf(key).spent,
    isSpent: (key: string): boolean => entryOf(key).spent >= tries,
    /** Milliseconds until the window ends. */
    wait: (key: string): number => entryOf(key).until - now(),
  }
}
