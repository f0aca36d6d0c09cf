// Turns SQLite's errors about a full disk and about a lock held too long into refusals of this server.

import { codeOf } from '../../../domain/system-errors.ts'
import { diskFull, overloaded } from '../../refusals.ts'

/** Returns any other cause as it is. */
export function translate(cause: unknown): unknown {
  if (isFull(cause)) return diskFull()
  return isBusy(cause) ? overloaded() : cause
}

export function isFull(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_FULL')
}

export function isBusy(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_BUSY')
}
