// Whether the database gives connections to this process: since when it gives none, and what the operator was told of that.

import { reasonOf } from './failures.ts'

/**
 * Called when the database gives no more connections, once for each reason, and with null when it does again. `left`: connections
 * that are open still and have not failed.
 */
export type OnState = (cause: unknown, left: number) => void

/** When the database has been away for so long, callers wait less, so that a crowd of them does not pile up. */
const LONG_AWAY_MS = 5000
/** A silent server may stay unnoticed for this long, so that an outage may have begun so much before the first failure. */
const LONGEST_SILENCE_MS = 4000
const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 1000

export function createAbsence(onState: OnState) {
  const told = new Set<string>()
  let failures = 0
  let since = 0
  let workedAt = 0
  let lastCause: unknown = null

  /** A connection worked a moment ago. */
  function worked(): void {
    workedAt = performance.now()
  }

  /** No connection could be opened. `began`: when the attempt did. */
  function failed(cause: unknown, { began, left }: { began: number; left: number }): void {
    if (failures === 0) since = Math.max(workedAt, began - LONGEST_SILENCE_MS)
    failures += 1
    lastCause = cause
    const reason = `${left === 0} ${reasonOf(cause)}`
    if (!told.has(reason)) onState(cause, left)
    told.add(reason)
  }

  /** A connection was opened. */
  function ended(left: number): void {
    if (failures > 0) onState(null, left)
    failures = 0
    told.clear()
  }

  return {
    worked,
    failed,
    ended,
    isAway: () => failures > 0,
    isLong: () => failures > 0 && performance.now() - since > LONG_AWAY_MS,
    lastCause: () => lastCause,
    /** Milliseconds until the next attempt. */
    pause: () => Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)),
  }
}
