// A request for a secret: what its owner asks for, how often it may be answered, and until when. No I/O;
// callers pass the time.

import { countWrongTry, passphraseLockedFor, type WrongTries } from './push.ts'
import { DAY, MINUTE } from './time.ts'

/** Times are milliseconds since 1970. */
export type SecretRequest = WrongTries & {
  /** Of its owner. */
  accountId: number
  createdAt: number
  expiresAt: number
  /** When its owner, its last answer or too many wrong passphrases closed it; null while nothing has. */
  closedAt: number | null
  acceptsText: boolean
  acceptsFiles: boolean
  maxAnswers: number
  /** Those that have arrived. */
  answers: number
  /** The public key of age that answers are encrypted for; null without one. */
  recipient: string | null
}

/** What somebody asks for in a new request, checked against the limits and completed with the defaults. */
export type NewRequest = Pick<SecretRequest, 'acceptsText' | 'acceptsFiles' | 'maxAnswers' | 'recipient'> & {
  /** For its owner. */
  name: string
  /** For whoever has the link. */
  message: string
  /** Time until it closes, in milliseconds. */
  lifetime: number
  passphrase: string | null
}

/** An upload counts as an answer for this long, unless it ends before. */
export const RESERVATION_LIFETIME = 10 * MINUTE

export const MAX_ANSWERS = 100

/**
 * Whether it takes no answer any more. One from more than a day in the future was made while the clock was
 * ahead.
 */
export function isOver({ closedAt, expiresAt, createdAt }: SecretRequest, now: number): boolean {
  return closedAt !== null || expiresAt <= now || createdAt > now + DAY
}

/** Whether another answer fits beside those that have arrived, and those that are `reserved` by uploads. */
export function hasRoomForAnswer(request: SecretRequest, reserved: number, now: number): boolean {
  return !isOver(request, now) && request.answers + reserved < request.maxAnswers
}

/**
 * The request after one more answer, of which the last closes it; null when it takes none. `reserved`: by
 * other uploads.
 */
export function decideAnswer<R extends SecretRequest>(request: R, reserved: number, now: number): R | null {
  if (!hasRoomForAnswer(request, reserved, now)) return null
  const answers = request.answers + 1
  return { ...request, answers, closedAt: answers === request.maxAnswers ? now : null }
}

export type WrongTry<R> = { outcome: 'refused' | 'limited' | 'closed'; request: R }

/**
 * The request after a wrong passphrase; the last of `maxTries` (0: no limit) closes it. `limited`: no
 * passphrase is checked for now, because other nodes may have counted some since this one was.
 */
export function decideWrongTry<R extends SecretRequest>(
  request: R,
  maxTries: number,
  now: number,
): WrongTry<R> {
  if (isOver(request, now)) return { outcome: 'closed', request }
  if (passphraseLockedFor(request, now) > 0) return { outcome: 'limited', request }
  const counted = countWrongTry(request, now)
  const closedAt = maxTries > 0 && counted.wrongTriesInAll >= maxTries ? now : null
  return { outcome: 'refused', request: { ...counted, closedAt } }
}
