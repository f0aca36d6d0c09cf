// Reports damage to the operator, and leaves damaged rows out of lists.

import { DamageError } from '../../domain/errors.ts'

/** Places that are reported one by one. Beyond this only their number is. */
const MAX_TOLD = 100
const MAX_KNOWN = 10_000

export type Damage = ReturnType<typeof createDamage>

/** Reports each place to `onError` once, however often it is read. */
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

  /** Maps rows with `present`. Reports those for which it throws a DamageError, and leaves them out. */
  function presentIntact<Row, Result>(rows: readonly Row[], present: (row: Row) => Result): Result[] {
    return rows.flatMap((row) => {
      try {
        return [present(row)]
      } catch (cause) {
        if (!(cause instanceof DamageError)) throw cause
        report(cause)
        return []
      }
    })
  }

  return {
    report,
    presentIntact,
    /** Places that were found damaged since the start. Very large numbers are not exact. */
    count: (): number => known.size,
  }
}
