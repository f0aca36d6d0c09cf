// What a store refuses because it is busy or full, in the same words for every engine.

import { DomainError } from '../../domain/errors.ts'

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}

export function diskFull(): DomainError {
  return new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
}
