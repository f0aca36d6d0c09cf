// Whether the disk of the server is full, as far as it has refused changes for want of room. What needs no more room goes on.

import { isDomainError } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'

/** After this time without a refusal there is room again, or nobody has asked for any. */
const FULL_MS = 5 * MINUTE

export type Fullness = ReturnType<typeof createFullness>

/** `onFull` is called when it begins. */
export function createFullness({ elapsed, onFull }: { elapsed: () => number; onFull: () => void }) {
  let refusedAt = Number.NEGATIVE_INFINITY

  const isFull = () => elapsed() - refusedAt < FULL_MS

  /** Takes each failure of a work, and returns it. */
  function note<Cause>(cause: Cause): Cause {
    if (!isDomainError(cause, 'disk_full')) return cause
    if (!isFull()) onFull()
    refusedAt = elapsed()
    return cause
  }

  return { isFull, note }
}
