// Reports damage to the operator.

import { DamageError } from '../domain/errors.ts'

/** Places that are reported one by one. Beyond this only their number is. */
const MAX_TOLD = 100
const MAX_KNOWN = 10_000

/** Reports each place to `onError` once, however often it is read. Very large numbers are not exact. */
export function createDamage(onError: (cause: unknown) => void) {
  const known = new Set<string>()

  function report(cause: unknown): void {
    if (cause instanceof DamageError) {
      if (known.has(cause.message) || known.size === MAX_KNOWN) return
      known.add(cause.message)
      if (known.size > MAX_TOLD) return
    }
    onError(cause)
  }

  return {
    report,
    /** Counts the damaged places found since the start. */
    count: () => known.size,
  }
}
