// Turns SQLite's errors about a full disk and about a lock held too long into refusals of this server.

import { diskFull, overloaded } from '../../every-engine/refusals.ts'
import { isBusy, isFull } from '../../folder/sqlite-failures.ts'

/** Returns any other cause as it is. */
export function translate(cause: unknown): unknown {
  if (isFull(cause)) return diskFull()
  return isBusy(cause) ? overloaded() : cause
}
