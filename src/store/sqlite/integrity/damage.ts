// What the store tells of damage, and how lists go on without the rows that it has hit.

import { DamageError } from '../../../domain/errors.ts'

/** Of more places the number is told, not each. */
const MAX_TOLD = 100
const MAX_KNOWN = 10_000

export type Damage = ReturnType<typeof createDamage>

/** `onError` is told of each place once, however often it is met. */
export function createDamage(onError: (cause: unknown) => void) {
  const known = new Set<string>()

  function tell(cause: unknown): void {
    if (cause instanceof DamageError) {
      if (known.has(cause.message) || known.size === MAX_KNOWN) return
      known.add(cause.message)
      if (known.size > MAX_TOLD) return
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

  /** To be called when no more is looked for. */
  function tellNumber(): void {
    if (known.size > MAX_TOLD) onError(new Error(`damaged on disk: ${known.size} places altogether`))
  }

  return {
    tell,
    tellNumber,
    presentIntact,
    /** Places that were found damaged since the start; of very many not all are counted. */
    count: (): number => known.size,
  }
}
