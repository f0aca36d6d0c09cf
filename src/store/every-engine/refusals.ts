// What a store refuses, in the same words for every engine.

import { conflict, DomainError } from '../../domain/errors.ts'

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}

export function diskFull(): DomainError {
  return new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
}

export function inactiveAccount(): DomainError {
  return new DomainError('unauthenticated', 'This account is not active.')
}

export function endedSession(): DomainError {
  return new DomainError('unauthenticated', 'This session has ended.')
}

export function lastAdministrator(): DomainError {
  return conflict('This is the last administrator.')
}

export function usedEmail(email: string): DomainError {
  return conflict(`There is an account for ${email} already.`)
}

export function usedIdempotencyKey(): DomainError {
  return conflict('This Idempotency-Key has just been used.')
}
