// Whether the disk of the server is full, as far as it has refused changes for want of room. What needs no more room goes on.

import { isDomainError } from '../../../domain/errors.ts'
import { MINUTE } from '../../../domain/time.ts'

/** After this time without a refusal there is room again, or nobody has asked for any. */
const FULL_MS = 5 * MINUTE

export type Fullness = ReturnType<typeof createFullness>

export type FullnessOptions = {
  elapsed: () => number
  /** Called when it begins. */
  onFull: () => void
  /** Called some time after the last refusal, with the milliseconds between the first and the last one. */
  onRoom: (fullFor: number) => void
}

export function createFullness({ elapsed, onFull, onRoom }: FullnessOptions) {
  let refusedAt = Number.NEGATIVE_INFINITY
  /** Null when it is not full, or the operator knows that it is not any more. */
  let since: number | null = null

  const isFull = () => elapsed() - refusedAt < FULL_MS

  /** Takes each failure of a work, and returns it. */
  function note<Cause>(cause: Cause): Cause {
    if (!isDomainError(cause, 'disk_full')) return cause
    if (since === null) {
      since = elapsed()
      onFull()
    }
    refusedAt = elapsed()
    return cause
  }

  /** Call this after each change that is durable, which heartbeats make when nobody else does. */
  function changed(): void {
    if (since === null || isFull()) return
    onRoom(refusedAt - since)
    since = null
  }

  return { isFull, note, changed }
}
