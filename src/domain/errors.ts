// The errors of Oncebox: one class with a closed set of codes, independent of HTTP.

import { explainProblem, type Problems } from './problems.ts'
import { SECOND } from './time.ts'

/**
 * The error codes, grouped by what they concern: the request, the viewer, the requested thing, and the
 * server's limits.
 */
export type ErrorCode =
  | ('malformed' | 'invalid' | 'too_large' | 'unsupported_type' | 'wrong_method' | 'unknown_host')
  | ('unauthenticated' | 'forbidden' | 'other_site')
  | ('not_found' | 'gone' | 'conflict')
  | ('too_many' | 'too_many_mails' | 'too_slow' | 'overloaded' | 'disk_full' | 'files_unreachable')

/** Messages by field, in the API's names: `{ payload: ["can't be blank"] }`. */
type FieldErrors = Record<string, string[]>

/** The limit that was exceeded, and the server's flag that sets it. */
export type SizeLimit = { of: 'text' | 'file' | 'files'; bytes: number; flag: string }

export type ErrorDetails = {
  fields?: FieldErrors
  /** The problems of `fields` as codes, for pages in other languages. */
  problems?: Problems
  /** Why a passphrase was refused. */
  passphrase?: 'missing' | 'wrong'
  /** Whether too many wrong passphrases lock it for a while. */
  isLocked?: boolean
  /** Whether running uploads have reserved all answers that a request still accepts. */
  isHeld?: boolean
  /** Whole seconds to wait before trying again. */
  retryAfter?: number
  /** The limit behind `too_large`, when a setting defines it. */
  limit?: SizeLimit
  /**
   * The limit of the address that the push would exceed, and when there is room again; `roomAt` is null if it
   * never fits.
   */
  room?: { limit: 'pushes' | 'bytes'; most: number; roomAt: number | null }
  /** The form was opened by one account and sent signed out or by another account. */
  sender?: 'signed_out' | 'somebody_else'
  /** The refused host name, and the flags that make it a name of this server. */
  host?: { name: string; flags: string }
  /** The methods that the path supports. */
  allow?: string
  /** Whether the outcome is unknown: the connection broke during COMMIT, so the change may have happened. */
  isInDoubt?: boolean
}

/** An expected error. `message` is shown to the person who made the request and contains no secret. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** The request conflicts with the current state. The message names the remedy. */
export function conflict(message: string): DomainError {
  return new DomainError('conflict', message)
}

/** Codes for storage that is unreachable, locked, full or read-only: the database or the files. */
const OUTAGES = ['overloaded', 'disk_full', 'files_unreachable'] as const satisfies ErrorCode[]

export type OutageCode = (typeof OUTAGES)[number]

export function isOutageCode(code: ErrorCode | null): code is OutageCode {
  return OUTAGES.some((known) => known === code)
}

export type OutageError = DomainError & { code: OutageCode }

/** Whether the same request may succeed later, because it failed at the store. */
export function isOutage(cause: unknown): cause is OutageError {
  return cause instanceof DomainError && isOutageCode(cause.code)
}

/** Adds details to an outage. Returns any other cause unchanged. */
export function addToOutage(cause: unknown, more: ErrorDetails): unknown {
  if (!isOutage(cause)) return cause
  const error = new DomainError(cause.code, cause.message, { ...cause.details, ...more })
  error.cause = cause.cause
  return error
}

/**
 * Rethrows an outage as certain, for a change whose outcome does not matter to the viewer, such as counting a
 * try.
 */
export function rethrowWithoutDoubt(cause: unknown): never {
  throw addToOutage(cause, { isInDoubt: false })
}

/** Stored data was altered. The message is for the operator; clients get an internal error. */
export class DamageError extends Error {
  override name = 'DamageError'
  readonly place: string
  readonly medium: Medium | null

  /**
   * `place` names the damaged record, such as `push 17`. `medium` is null for a row if the caller does not
   * know which engine stores it.
   */
  constructor(place: string, medium: Medium | null = null) {
    super(DAMAGE[medium ?? 'disk'](place))
    this.place = place
    this.medium = medium
    // Leave the stack trace out: the fault is outside the program.
    this.stack = this.message
  }
}

/**
 * Where a record is stored: on a disk of this machine, in the database server, or in the bucket of the files.
 */
type Medium = 'disk' | 'server' | 'bucket'

const DAMAGE: Record<Medium, (place: string) => string> = {
  disk: (place) =>
    `damaged on disk: ${place} is not as it was written. docs/damage.md says what to do; no backup holds what is inside a push`,
  server: (place) =>
    `damaged in PostgreSQL: ${place} is not as it was written. See the log of that server and its disk, and docs/damage.md`,
  bucket: (place) =>
    `damaged in the bucket: ${place} is missing there, or is not as it was written. Bring the object back if the bucket has a copy ` +
    '(docs/damage.md tells its name); otherwise the sender has to share it again',
}

/** Reports all invalid fields: one message for people, and the details by field. */
export function invalidFields(problems: Problems): DomainError {
  const fields = Object.fromEntries(
    Object.entries(problems).map(([field, found]) => [field, found.map(explainProblem)]),
  )
  const sentences = Object.entries(fields).flatMap(([field, messages]) =>
    messages.map((message) => `${humanize(field)} ${message}`),
  )
  return new DomainError('invalid', sentences.join(', '), { fields, problems })
}

function humanize(field: string): string {
  const words = field.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Converts a wait in milliseconds to the whole seconds of `retryAfter`: at least 1, at most 60. */
export function retrySeconds(wait: number): number {
  return Math.min(60, Math.max(1, Math.ceil(wait / SECOND)))
}

/** Refuses by a rate limit. `said` names the limit; `wait` is in milliseconds. */
export function tooMany(said: string, wait: number, details: ErrorDetails = {}): DomainError {
  const retryAfter = retrySeconds(wait)
  return new DomainError('too_many', `${said}: try again in ${retryAfter} s.`, { ...details, retryAfter })
}

/** Refuses passphrases of a push or request, none of which is checked for `wait` milliseconds. */
export function tooManyTries(of: 'push' | 'request', wait: number): DomainError {
  return tooMany(`Too many wrong passphrases for this ${of}`, wait, { isLocked: true })
}

/** Missing, or hidden from this viewer. */
export function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}

/** Turns `not_found` into null. Rethrows every other cause. */
export function nullIfMissing(cause: unknown): null {
  if (isDomainError(cause, 'not_found')) return null
  throw cause
}

/** Whether the cause is a DomainError, with this code when one is given. */
export function isDomainError(cause: unknown, code?: ErrorCode): cause is DomainError {
  return cause instanceof DomainError && (code === undefined || cause.code === code)
}
