// Runs a work over and over until one attempt succeeds: conflicts, lost connections and restarts of the server pass.

import { randomKey } from '../../../crypto/random.ts'
import type { Deadline } from './deadline.ts'
import { isPassing, unavailable } from './failures.ts'

export type PersistOptions = {
  /** Called before each further attempt. */
  onRetry: () => void
  /** What the caller is told of a failure that no further attempt mends. */
  explain: (cause: unknown) => unknown
}

/** An attempt returns null when the work has to be attempted again. Throws `overloaded` when the time is over. */
export type Persist = <T>(deadline: Deadline, attempt: () => Promise<{ value: T } | null>) => Promise<T>

const LAST_PAUSE_MS = 250

export function createPersist({ onRetry, explain }: PersistOptions): Persist {
  return async (deadline, attempt) => {
    for (let failures = 1; ; failures += 1) {
      let cause: unknown = null
      try {
        const done = await attempt()
        if (done !== null) return done.value
      } catch (failure) {
        if (!isPassing(failure)) throw explain(failure)
        cause = failure
      }
      if (deadline.isOver()) throw unavailable(cause)
      onRetry()
      await Bun.sleep(pauseAfter(failures))
    }
  }
}

/** Random within a factor of two, so that two nodes do not meet again after the same conflict. */
function pauseAfter(failures: number): number {
  return Math.min(LAST_PAUSE_MS, 2 ** failures) * (1 + randomKey(1).readUInt8() / 256)
}
