// The refusals of Oncebox: one class, a closed set of codes, no HTTP in it.

import type { Problems } from './problems.ts'

export type ErrorCode =
  | 'malformed'
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'other_site'
  | 'not_found'
  | 'wrong_method'
  | 'unknown_host'
  | 'too_large'
  | 'too_slow'
  | 'unsupported_type'
  | 'too_many'
  | 'overloaded'
  | 'disk_full'
  | 'conflict'

/** Messages by field, as the wire names the field: `{ payload: ["can't be blank"] }`. */
export type FieldErrors = Record<string, string[]>

/** What a person can do about something that is too large; `flag` is the server's. */
export type SizeLimit = { of: 'text' | 'file' | 'files'; bytes: number; flag: string }

export type ErrorDetails = {
  fields?: FieldErrors
  /** The same as codes, for whoever tells them in another language. */
  problems?: Problems
  /** Whole seconds after which trying again makes sense. */
  retryAfter?: number
  /** The limit behind `too_large`, when a setting decides it. */
  limit?: SizeLimit
  /** The limit of an address that a push would exceed; `roomAt` is null for one that never fits. */
  room?: { limit: 'pushes' | 'bytes'; most: number; roomAt: number | null }
  /** A form was sent by another person than the one who opened it, or by nobody who is known. */
  sender?: 'signed_out' | 'somebody_else'
  /** The methods a path does know. */
  allow?: string
}

/** A refusal that is nobody's bug. `message` is written for the person who is refused and holds no secret. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** What is kept is not as it was written. For the operator: a client is told nothing of it, as of any failure. */
export class DamageError extends Error {
  override name = 'DamageError'

  /** `place` is what was hit, such as `push 17`. */
  constructor(place: string) {
    super(`damaged on disk: ${place} is not as it was written. Restore it from a backup`)
    // Where in the program it was met says nothing more.
    this.stack = this.message
  }
}

/** Narrows an unknown cause to a refusal, by one code when given. */
export function isDomainError(cause: unknown, code?: ErrorCode): cause is DomainError {
  return cause instanceof DomainError && (code === undefined || cause.code === code)
}
