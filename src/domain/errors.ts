// The errors of Oncebox: one class with a closed set of codes, independent of HTTP.

import { explainProblem, type Problems } from './problems.ts'
import { SECOND } from './time.ts'

export type ErrorCode =
  | 'malformed'
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'other_site'
  | 'not_found'
  | 'gone'
  | 'wrong_method'
  | 'unknown_host'
  | 'too_large'
  | 'too_slow'
  | 'unsupported_type'
  | 'too_many'
  | 'too_many_mails'
  | 'overloaded'
  | 'disk_full'
  | 'files_unreachable'
  | 'conflict'

/** Messages by field, in the API's names: `{ payload: ["can't be blank"] }`. */
export type FieldErrors = Record<string, string[]>

/** The limit that was exceeded, and the server's flag that sets it. */
export type SizeLimit = { of: 'text' | 'file' | 'files'; bytes: number; flag: string }

export type ErrorDetails = {
  fields?: FieldErrors
  /** The same as codes, for pages in other languages. */
  problems?: Problems
  /** Why a passphrase was refused. */
  passphrase?: 'missing' | 'wrong'
  /** Too many wrong ones: it is locked for a while. */
  isLocked?: boolean
  /** Uploads that are under way hold all answers that a request still takes. */
  isHeld?: boolean
  /** Whole seconds to wait before trying again. */
  retryAfter?: number
  /** The limit behind `too_large`, when a setting defines it. */
  limit?: SizeLimit
  /**
   * The address's limit that the push would exceed, and when there is room; `roomAt` is null if it never
   * fits.
   */
  room?: { limit: 'pushes' | 'bytes'; most: number; roomAt: number | null }
  /** The form was opened by one account and sent signed out or by another account. */
  sender?: 'signed_out' | 'somebody_else'
  /** The refused host name, and the flags that make it a name of this server. */
  host?: { name: string; flags: string }
  /** The methods that the path supports. */
  allow?: string
  /**
   * The change may have happened all the same: the answer of the store was lost, and nothing could tell in
   * time.
   */
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

/** What was asked for cannot be done as things are. */
export function conflict(message: string): DomainError {
  return new DomainError('conflict', message)
}

/** What a store throws while it is away, locked, full or read-only, or while the place of its files is. */
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

/** The same refusal with more details. Returns any cause as it is that is no outage. */
export function addToOutage(cause: unknown, more: ErrorDetails): unknown {
  if (!isOutage(cause)) return cause
  const error = new DomainError(cause.code, cause.message, { ...cause.details, ...more })
  error.cause = cause.cause
  return error
}

/** For a change of which the person need not know whether it happened, such as a count of tries. */
export function rethrowWithoutDoubt(cause: unknown): never {
  throw addToOutage(cause, { isInDoubt: false })
}

/** Stored data was altered. The message is for the operator; clients get an internal error. */
export class DamageError extends Error {
  override name = 'DamageError'
  readonly place: string
  readonly medium: Medium | null

  /**
   * `place` names the damaged record, such as `push 17`; `medium` is null for a row when the caller does not
   * know which engine keeps it.
   */
  constructor(place: string, medium: Medium | null = null) {
    super(DAMAGE[medium ?? 'disk'](place))
    this.place = place
    this.medium = medium
    // A stack trace would not help: the fault is outside the program.
    this.stack = this.message
  }
}

/** What keeps something stored: a disk of this machine, the database server, or the bucket of the files. */
export type Medium = 'disk' | 'server' | 'bucket'

const DAMAGE: Record<Medium, (place: string) => string> = {
  disk: (place) =>
    `damaged on disk: ${place} is not as it was written. docs/damage.md says what to do; no backup holds what is inside a push`,
  server: (place) =>
    `damaged in PostgreSQL: ${place} is not as it was written. See the log of that server and its disk, and docs/damage.md`,
  bucket: (place) =>
    `damaged in the bucket: ${place} is missing there, or is not as it was written. Bring the object back if the bucket has a copy ` +
    '(docs/damage.md tells its name); otherwise the sender has to share it again',
}

/** An error that reports all invalid fields: one message for people, and the details by field. */
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

/** A wait in milliseconds as the whole seconds of `retryAfter`: at least 1, at most 60. */
export function retrySeconds(wait: number): number {
  return Math.min(60, Math.max(1, Math.ceil(wait / SECOND)))
}

/** `said` names what there was too much of; `wait` is in milliseconds. */
export function tooMany(said: string, wait: number, details: ErrorDetails = {}): DomainError {
  const retryAfter = retrySeconds(wait)
  return new DomainError('too_many', `${said}: try again in ${retryAfter} s.`, { ...details, retryAfter })
}

/** Wrong passphrases of one push or request: for `wait` milliseconds none is checked. */
export function tooManyTries(of: 'push' | 'request', wait: number): DomainError {
  return tooMany(`Too many wrong passphrases for this ${of}`, wait, { isLocked: true })
}

/** There is nothing at this place, or nothing that may be told of. */
export function notFound(): DomainError {
  return new DomainError('not_found', 'not-found')
}

/** For what may be missing. Throws every other cause. */
export function nullIfMissing(cause: unknown): null {
  if (isDomainError(cause, 'not_found')) return null
  throw cause
}

/** Whether the cause is a DomainError, with this code when one is given. */
export function isDomainError(cause: unknown, code?: ErrorCode): cause is DomainError {
  return cause instanceof DomainError && (code === undefined || cause.code === code)
}
