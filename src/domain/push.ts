// A push and the pure choices about its life: who may do what, what a visit leads to. No I/O; time comes in.

import type { Account } from './account.ts'
import { DAY, MINUTE } from './time.ts'

export type PushKind = 'text' | 'file' | 'url' | 'qr'

export const PUSH_KINDS: readonly PushKind[] = ['text', 'file', 'url', 'qr']

/** What is known of a push without its secrets. Times are milliseconds since 1970. */
export type Push = {
  kind: PushKind
  /** The account that made it; null for an anonymous push, which nobody owns. */
  ownerId: number | null
  createdAt: number
  updatedAt: number
  expiresAt: number
  expireAfterDays: number
  expireAfterViews: number
  views: number
  /** null: a url push that did not say, which viewers may not delete. */
  deletableByViewer: boolean | null
  retrievalStep: boolean
  passphraseRequired: boolean
  wrongTries: number
  wrongTriesSince: number
  /** Since the push was made, or since its owner unlocked it. A right passphrase does not reset it. */
  wrongTriesInAll: number
  /** Too many wrong passphrases in all: the push has expired with them, or is locked. */
  triesSpent: boolean
  expiredOn: number | null
  deleted: boolean
}

export const MAX_WRONG_TRIES = 5
export const WRONG_TRIES_WINDOW = MINUTE

export function viewsRemaining(push: Push): number {
  return Math.max(0, push.expireAfterViews - push.views)
}

/** Whole days, counted from creation. */
export function daysRemaining(push: Push, now: number): number {
  const elapsed = Math.floor(Math.max(0, now - push.createdAt) / DAY)
  return Math.max(0, push.expireAfterDays - elapsed)
}

/** True also when the time has passed and nobody has written it down yet. */
export function isExpired(push: Push, now: number): boolean {
  return push.expiredOn !== null || push.expiresAt <= now
}

/** Expiry by time as it is written by whoever notices it: the push stopped at `expiresAt`, not now. */
export function lapse(push: Push, now: number): Push {
  return push.expiredOn === null && push.expiresAt <= now
    ? { ...push, expiredOn: push.expiresAt, updatedAt: now }
    : push
}

export type ViewDecision = { outcome: 'view' | 'expired'; push: Push }

/** What one retrieval that could open the payload leads to. The last allowed view is still a view. */
export function decideView(push: Push, now: number): ViewDecision {
  if (isExpired(push, now) || push.views >= push.expireAfterViews) {
    return { outcome: 'expired', push: lapse(push, now) }
  }
  const views = push.views + 1
  const expiredOn = views === push.expireAfterViews ? now : null
  return { outcome: 'view', push: { ...push, views, expiredOn, updatedAt: now } }
}

/** Milliseconds until passphrases are looked at again; 0 when one may be tried now. */
export function passphraseLockedFor(push: Push, now: number): number {
  if (push.wrongTries < MAX_WRONG_TRIES) return 0
  return Math.max(0, push.wrongTriesSince + WRONG_TRIES_WINDOW - now)
}

/** The push after one wrong passphrase: the window starts with the first wrong try in it. */
export function countWrongTry(push: Push, now: number): Push {
  const inWindow = push.wrongTries > 0 && now < push.wrongTriesSince + WRONG_TRIES_WINDOW
  const counted = { ...push, wrongTriesInAll: push.wrongTriesInAll + 1, updatedAt: now }
  return inWindow
    ? { ...counted, wrongTries: push.wrongTries + 1 }
    : { ...counted, wrongTries: 1, wrongTriesSince: now }
}

/** Whether this was the last wrong passphrase that `maxTries` allows in all; 0 allows any number. */
export function isLastTry({ wrongTriesInAll }: Push, maxTries: number): boolean {
  return maxTries > 0 && wrongTriesInAll >= maxTries
}

/**
 * The push after its last wrong passphrase. It expires where viewers may delete it. Elsewhere it is locked: strangers
 * must not destroy by guessing what they may not delete.
 */
export function spendTries(push: Push, now: number): Push {
  const spent = { ...push, triesSpent: true, updatedAt: now }
  return push.deletableByViewer === true ? { ...spent, expiredOn: now } : spent
}

/** Nothing that carries a passphrase is looked at until its owner unlocks the push. */
export function isLocked(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer !== true
}

/** Whether wrong passphrases ended it, and no other limit or wish. */
export function isEndedByTries(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer === true
}

/** The push once its owner has unlocked it: as if nobody had tried. */
export function unlock(push: Push, now: number): Push {
  return { ...push, triesSpent: false, wrongTriesInAll: 0, wrongTries: 0, updatedAt: now }
}

/** The push as it was created, whatever happened to it since. */
export function asCreated<P extends Push>(push: P): P {
  const { createdAt } = push
  const untried = { wrongTries: 0, wrongTriesSince: createdAt, wrongTriesInAll: 0, triesSpent: false }
  return { ...push, ...untried, updatedAt: createdAt, views: 0, expiredOn: null, deleted: false }
}

/** Ownership needs an account on both sides: an anonymous push is nobody's. */
export function isOwner(push: Push, account: Account | null): boolean {
  return account !== null && push.ownerId !== null && push.ownerId === account.id
}

export function canExpire(push: Push, account: Account | null): boolean {
  return push.deletableByViewer === true || isOwner(push, account)
}

/**
 * Expiry by somebody's wish; what is expired already stays as it is. `hasGrants`: it ended by its last view, and its files
 * can still be downloaded; then it becomes deleted, which ends that too.
 */
export function expireByHand(push: Push, now: number, { hasGrants }: { hasGrants: boolean }): Push {
  if (hasGrants && push.expiredOn !== null && !push.deleted) return { ...push, deleted: true, updatedAt: now }
  if (isExpired(push, now)) return lapse(push, now)
  return { ...push, expiredOn: now, deleted: true, updatedAt: now }
}
