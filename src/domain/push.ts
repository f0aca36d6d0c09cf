// A push and its rules: who may do what, when it is expired, when it is locked. No I/O; callers pass the
// time.

import type { Account } from './account.ts'
import { DAY, MINUTE, NODES_APART } from './time.ts'

export type PushKind = 'text' | 'file' | 'url' | 'qr'

export const PUSH_KINDS: readonly PushKind[] = ['text', 'file', 'url', 'qr']

/**
 * The side that encrypted a push with age: its sender, which makes it end-to-end, or this server, for the
 * owner of the request that the push answers.
 */
export type AgeSealer = 'sender' | 'server'

/** Counts of wrong passphrases: in the one-minute window that began at `wrongTriesSince`, and in total. */
export type WrongTries = {
  wrongTries: number
  wrongTriesSince: number
  /**
   * The total since the creation, or since the owner unlocked the push. A right passphrase does not reset it.
   */
  wrongTriesInAll: number
}

/** A push without its secrets. Times are milliseconds since 1970. */
export type Push = WrongTries & {
  kind: PushKind
  /** The account that created it; null for an anonymous push, which has no owner. */
  ownerId: number | null
  createdAt: number
  updatedAt: number
  expiresAt: number
  expireAfterDays: number
  expireAfterViews: number
  views: number
  /** The time of the last counted view; 0 if there is none, or if an older version counted it. */
  lastViewedAt: number
  /**
   * Whether viewers may delete the push; null, which means no, for a url push whose creator did not choose.
   */
  deletableByViewer: boolean | null
  retrievalStep: boolean
  /** Whether recipients see the address of the owner's account, while the server allows that. */
  showsSender: boolean
  passphraseRequired: boolean
  /** Whether pages ask for a code of two digits, against programs that press buttons. */
  codeRequired: boolean
  /** The side that encrypted the push with age; null if it is not encrypted so. */
  encryptedBy: AgeSealer | null
  /** A digest by which a recipient's program checks the key in the link; null if there is none. */
  keyCheck: string | null
  /** Whether too many wrong passphrases in all have expired or locked the push. */
  triesSpent: boolean
  expiredOn: number | null
  deleted: boolean
  /** Whether a restore of the server expired it, because no backup contains the keys of a push. */
  lost: boolean
  /** Whether its owner has not looked at it since it arrived as an answer, or since it ended. */
  isNew: boolean
}

/** The total of wrong codes after which only one more a minute is allowed. */
const PATIENT_CODES = 10

/**
 * Returns how many wrong codes are allowed in a minute after `wrongInAll` of them. Unlike passphrases, they
 * never lock or end a push.
 */
export function codesAllowed(wrongInAll: number): number {
  return wrongInAll < PATIENT_CODES ? MAX_WRONG_TRIES : 1
}

const MAX_WRONG_TRIES = 5
const WRONG_TRIES_WINDOW = MINUTE

export function viewsRemaining(push: Push): number {
  return Math.max(0, push.expireAfterViews - push.views)
}

/** Returns whole days, counted from creation. */
export function daysRemaining(push: Push, now: number): number {
  const elapsed = Math.floor(Math.max(0, now - push.createdAt) / DAY)
  return Math.max(0, push.expireAfterDays - elapsed)
}

/** Whether a push is expired, including one whose expiry is not recorded yet. */
export function isExpired(push: Push, now: number): boolean {
  return push.expiredOn !== null || push.expiresAt <= now
}

/** Whether its sender encrypted it, so that this server can't read it. */
export function isEndToEnd({ encryptedBy }: Pick<Push, 'encryptedBy'>): boolean {
  return encryptedBy === 'sender'
}

/** Whether a push was created more than a day in the future, while the clock was ahead. */
export function isFromAhead({ createdAt }: Pick<Push, 'createdAt'>, now: number): boolean {
  return createdAt > now + DAY
}

/**
 * Moves the dates of such a push back by as many milliseconds as the clock was `ahead`, and at least to
 * `now`.
 */
export function setBack<P extends Pick<Push, 'createdAt' | 'expiresAt'>>(
  push: P,
  { ahead, now }: { ahead: number; now: number },
): P & { updatedAt: number } {
  const by = Math.max(ahead, push.createdAt - now)
  return { ...push, createdAt: push.createdAt - by, expiresAt: push.expiresAt - by, updatedAt: now }
}

/** Returns the milliseconds until the next passphrase may be tried; 0 when one may be tried now. */
export function passphraseLockedFor(push: WrongTries, now: number): number {
  if (push.wrongTries < MAX_WRONG_TRIES || !isInWindow(push, now)) return 0
  return push.wrongTriesSince + WRONG_TRIES_WINDOW - now
}

/**
 * Whether a further wrong try counts with the earlier ones. A window that begins well after now was written
 * while the clock was ahead, and is ignored.
 */
function isInWindow({ wrongTries, wrongTriesSince }: WrongTries, now: number): boolean {
  const hasBegun = wrongTriesSince <= now + NODES_APART
  return wrongTries > 0 && hasBegun && now < wrongTriesSince + WRONG_TRIES_WINDOW
}

/** Counts one more wrong try. A window starts with its first wrong try. */
export function countWrongTry<T extends WrongTries>(before: T, now: number): T {
  const counted = { ...before, wrongTriesInAll: before.wrongTriesInAll + 1 }
  return isInWindow(before, now)
    ? { ...counted, wrongTries: before.wrongTries + 1 }
    : { ...counted, wrongTries: 1, wrongTriesSince: now }
}

/** Whether a push is locked: every passphrase is refused until the owner unlocks it. */
export function isLocked(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer !== true
}

/** Whether every passphrase is refused now, even the right one. */
export function isLimited(push: Push, now: number): boolean {
  return (
    push.passphraseRequired && !isExpired(push, now) && (isLocked(push) || passphraseLockedFor(push, now) > 0)
  )
}

/** Whether wrong passphrases expired the push, rather than its time, a view or a deletion. */
export function isEndedByTries(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer === true
}

/** The state of a new push, before any visit. */
export const UNTOUCHED = {
  ...{ views: 0, lastViewedAt: 0, wrongTries: 0, wrongTriesInAll: 0, triesSpent: false },
  ...{ expiredOn: null, deleted: false, lost: false, isNew: false },
}

/** Returns the push in its state at creation. */
export function asCreated<P extends Push>(push: P): P {
  return { ...push, ...UNTOUCHED, wrongTriesSince: push.createdAt, updatedAt: push.createdAt }
}

/** Whether the account owns the push. An anonymous push has no owner, so null never equals null. */
export function isOwner(push: Push, account: Account | null): boolean {
  return account !== null && push.ownerId !== null && push.ownerId === account.id
}

/** Whether the account may end the push: its owner, or any viewer if viewers may delete it. */
export function mayExpire(push: Push, account: Account | null): boolean {
  return push.deletableByViewer === true || isOwner(push, account)
}
