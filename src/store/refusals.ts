// What a store refuses, in the same words for every engine.

import { DomainError } from '../domain/errors.ts'

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}

export function diskFull(): DomainError {
  return new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
}

export function inactiveAccount(): DomainError {
  return new DomainError('unauthenticated', 'This account is not active.')
}
