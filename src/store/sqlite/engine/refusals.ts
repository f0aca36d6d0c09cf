// Turns SQLite's errors about a full disk and about a lock held too long into refusals of this server.

import { DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}

export function diskFull(): DomainError {
  return new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
}

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
