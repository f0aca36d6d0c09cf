// A request for a secret: what its owner asks for, how many answers it accepts, and until when. No I/O;
// callers pass the time.

import { countWrongTry, passphraseLockedFor, type WrongTries } from './push.ts'
import { DAY, MINUTE } from './time.ts'

/** Times are milliseconds since 1970. */
export type SecretRequest = WrongTries & {
  /** The owner's account. */
  accountId: number
  createdAt: number
  expiresAt: number
  /**
   * When the owner, the last answer or too many wrong passphrases closed the request; null while it is open.
   */
  closedAt: number | null
  acceptsText: boolean
  acceptsFiles: boolean
  maxAnswers: number
  /** Answers that have arrived. */
  answers: number
  /** The public key of age that answers are encrypted for; null without one. */
  recipient: string | null
  /** Whether senders see the address of the owner's account, while the server allows that. */
  showsSender: boolean
}

/** A new request, checked against the limits and completed with the defaults. */
export type NewRequest = Pick<
  SecretRequest,
  'acceptsText' | 'acceptsFiles' | 'maxAnswers' | 'recipient' | 'showsSender'
> & {
  /** Shown to its owner only. */
  name: string
  /** Shown to everyone with the link. */
  message: string
  /** Time until it closes, in milliseconds. */
  lifetime: number
  passphrase: string | null
}

/** The maximum length of a title that is taken from a message; longer first lines are cut. */
const MAX_TITLE = 80

/** Returns the name of a request; else the first line of its message, which may be ''. */
export function titleOfRequest({ name, message }: { name: string; message: string }): string {
  if (name !== '') return name
  const [line = ''] = message.trim().split(/\r?\n/)
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE)}…` : line
}

/** A running upload reserves an answer for this long. */
export const RESERVATION_LIFETIME = 10 * MINUTE

export const MAX_ANSWERS = 100

/**
 * Whether a request accepts no more answers. One created more than a day in the future was made while the
 * clock was ahead.
 */
export function isOver({ closedAt, expiresAt, createdAt }: SecretRequest, now: number): boolean {
  return closedAt !== null || expiresAt <= now || createdAt > now + DAY
}

/**
 * Whether there is room for another answer besides those that have arrived and those `reserved` by uploads.
 */
export function hasRoomForAnswer(request: SecretRequest, reserved: number, now: number): boolean {
  return !isOver(request, now) && request.answers + reserved < request.maxAnswers
}

/**
 * Returns the request after one more answer, closed if that is the last; null if it accepts none. `reserved`:
 * the answers that other uploads have reserved.
 */
export function decideAnswer<R extends SecretRequest>(request: R, reserved: number, now: number): R | null {
  if (!hasRoomForAnswer(request, reserved, now)) return null
  const answers = request.answers + 1
  return { ...request, answers, closedAt: answers === request.maxAnswers ? now : null }
}

export type WrongTry<R> = { outcome: 'refused' | 'limited' | 'closed'; request: R }

/**
 * Returns the request after a wrong passphrase, closed if that is the last of `maxTries` (0: no limit).
 * `limited` if the limit is reached already, because other nodes may have counted tries since the check.
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
