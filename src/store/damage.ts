// What the store tells of damage, and how lists go on without the rows that it has hit.

import { DamageError } from '../domain/errors.ts'

export type Damage = ReturnType<typeof createDamage>

/** `onError` is told of each place once, however often it is met. */
export function createDamage(onError: (cause: unknown) => void) {
  const told = new Set<string>()

  function tell(cause: unknown): void {
    if (cause instanceof DamageError) {
      if (told.has(cause.message)) return
      told.add(cause.message)
    }
    onError(cause)
  }

  /** Each row as `present` makes it; those for which that throws a DamageError are told and left out. */
  function presentIntact<Row, Result>(rows: readonly Row[], present: (row: Row) => Result): Result[] {
    return rows.flatMap((row) => {
      try {
        return [present(row)]
      } catch (cause) {
        if (!(cause instanceof DamageError)) throw cause
        tell(cause)
        return []
      }
    })
  }

  return {
    tell,
    presentIntact,
    /** Places that were found damaged since the start. */
    count: (): number => told.size,
  }
}
