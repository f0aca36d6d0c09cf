// A push and its rules: who may do what, when it expires, what a visit leads to. No I/O; callers pass the time.

import type { Account } from './account.ts'
import { DAY, MINUTE, NODES_APART } from './time.ts'

export type PushKind = 'text' | 'file' | 'url' | 'qr'

export const PUSH_KINDS: readonly PushKind[] = ['text', 'file', 'url', 'qr']

/** A push without its secrets. Times are milliseconds since 1970. */
export type Push = {
  kind: PushKind
  /** The account that created it; null for an anonymous push, which has no owner. */
  ownerId: number | null
  createdAt: number
  updatedAt: number
  expiresAt: number
  expireAfterDays: number
  expireAfterViews: number
  views: number
  /** When the last view was counted; 0 before the first one, and for views of older versions. */
  lastViewedAt: number
  /** Null for a url push whose creator did not choose; viewers may not delete it. */
  deletableByViewer: boolean | null
  retrievalStep: boolean
  passphraseRequired: boolean
  wrongTries: number
  wrongTriesSince: number
  /** Wrong tries since creation or since the owner unlocked it. A right passphrase does not reset this. */
  wrongTriesInAll: number
  /** Whether too many wrong passphrases in all have expired or locked the push. */
  triesSpent: boolean
  expiredOn: number | null
  deleted: boolean
  /** Whether a restore of the server expired it: what opens a push is in no backup. */
  lost: boolean
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

/** Also true when its time has passed but the expiry is not recorded yet. */
export function isExpired(push: Push, now: number): boolean {
  return push.expiredOn !== null || push.expiresAt <= now
}

/** Made more than a day in the future, so while the clock was ahead. */
export function isFromAhead({ createdAt }: Pick<Push, 'createdAt'>, now: number): boolean {
  return createdAt > now + DAY
}

/** Moves the dates of a push from ahead back by as many milliseconds as the clock was `ahead`, and at least to `now`. */
export function setBack<P extends Pick<Push, 'createdAt' | 'expiresAt'>>(
  push: P,
  { ahead, now }: { ahead: number; now: number },
): P & { updatedAt: number } {
  const by = Math.max(ahead, push.createdAt - now)
  return { ...push, createdAt: push.createdAt - by, expiresAt: push.expiresAt - by, updatedAt: now }
}

/** Records an expiry by time, whenever it is noticed: `expiredOn` is `expiresAt`, not `now`. */
export function lapse<P extends Push>(push: P, now: number): P {
  return push.expiredOn === null && push.expiresAt <= now
    ? { ...push, expiredOn: push.expiresAt, updatedAt: now }
    : push
}

/** The push after the server was restored from a backup that was made while the push was live. */
export function lose<P extends Push>(push: P, now: number): P {
  return isExpired(push, now) ? lapse(push, now) : { ...push, expiredOn: now, lost: true, updatedAt: now }
}

/** `kind` is the entry of the visit in the log. */
export type ViewDecision<P extends Push> =
  | { outcome: 'view'; kind: 'view' | 'owner_view'; push: P }
  | { outcome: 'expired'; kind: 'failed_view'; push: P }

/**
 * Decides a retrieval whose link and passphrase are right, and counts it. The last allowed view is still a view. When `lookBy`
 * is the owner, the visit is an `owner_view` and does not count; null counts every visit.
 */
export function decideView<P extends Push>(
  push: P,
  { now, lookBy }: { now: number; lookBy: Account | null },
): ViewDecision<P> {
  if (isExpired(push, now) || push.views >= push.expireAfterViews) {
    return { outcome: 'expired', kind: 'failed_view', push }
  }
  if (isOwner(push, lookBy)) return { outcome: 'view', kind: 'owner_view', push }
  const views = push.views + 1
  const expiredOn = views === push.expireAfterViews ? now : null
  return {
    outcome: 'view',
    kind: 'view',
    push: { ...push, views, lastViewedAt: now, expiredOn, updatedAt: now },
  }
}

/** Milliseconds until the next passphrase may be tried; 0 when one may be tried now. */
export function passphraseLockedFor(push: Push, now: number): number {
  if (push.wrongTries < MAX_WRONG_TRIES || !isInWindow(push, now)) return 0
  return push.wrongTriesSince + WRONG_TRIES_WINDOW - now
}

/** A window that begins clearly later than now was written while the clock was ahead, and does not count. */
function isInWindow({ wrongTries, wrongTriesSince }: Push, now: number): boolean {
  const hasBegun = wrongTriesSince <= now + NODES_APART
  return wrongTries > 0 && hasBegun && now < wrongTriesSince + WRONG_TRIES_WINDOW
}

/** The push after one more wrong passphrase. A window starts with its first wrong try. */
export function countWrongTry<P extends Push>(push: P, now: number): P {
  const counted = { ...push, wrongTriesInAll: push.wrongTriesInAll + 1, updatedAt: now }
  return isInWindow(push, now)
    ? { ...counted, wrongTries: push.wrongTries + 1 }
    : { ...counted, wrongTries: 1, wrongTriesSince: now }
}

/** Whether the wrong passphrases in all have reached `maxTries`; 0 means no limit. */
export function isLastTry({ wrongTriesInAll }: Push, maxTries: number): boolean {
  return maxTries > 0 && wrongTriesInAll >= maxTries
}

/**
 * The push after its last wrong passphrase. It expires if viewers may delete it. Otherwise it is locked, so that
 * strangers cannot destroy it by guessing.
 */
export function spendTries<P extends Push>(push: P, now: number): P {
  const spent = { ...push, triesSpent: true, updatedAt: now }
  return push.deletableByViewer === true ? { ...spent, expiredOn: now } : spent
}

/** While a push is locked, every passphrase is refused until the owner unlocks it. */
export function isLocked(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer !== true
}

/** Whether no passphrase is checked now, the right one included. */
export function isLimited(push: Push, now: number): boolean {
  return (
    push.passphraseRequired && !isExpired(push, now) && (isLocked(push) || passphraseLockedFor(push, now) > 0)
  )
}

/** Whether wrong passphrases expired it, rather than its time, a view or a deletion. */
export function isEndedByTries(push: Push): boolean {
  return push.triesSpent && push.deletableByViewer === true
}

/** The push after its owner unlocked it: all counts of wrong tries are zero. */
export function unlock<P extends Push>(push: P, now: number): P {
  return { ...push, triesSpent: false, wrongTriesInAll: 0, wrongTries: 0, updatedAt: now }
}

/** The push in its state at creation. */
export function asCreated<P extends Push>(push: P): P {
  const { createdAt } = push
  const untried = { wrongTries: 0, wrongTriesSince: createdAt, wrongTriesInAll: 0, triesSpent: false }
  return {
    ...push,
    ...untried,
    updatedAt: createdAt,
    views: 0,
    lastViewedAt: 0,
    expiredOn: null,
    deleted: false,
    lost: false,
  }
}

/** Requires an account on both sides: an anonymous push has no owner. */
export function isOwner(push: Push, account: Account | null): boolean {
  return account !== null && push.ownerId !== null && push.ownerId === account.id
}

/** The owner may, and for a push that viewers may delete everybody who has the link. */
export function mayExpire(push: Push, account: Account | null): boolean {
  return push.deletableByViewer === true || isOwner(push, account)
}

/** Only the owner may read the log of a push. */
export function mayAudit(push: Push, account: Account | null): boolean {
  return isOwner(push, account)
}

/**
 * Deletes the push. An expired push stays unchanged, unless `hasGrants` says that its files can still be downloaded
 * after the last view: then it becomes deleted, which ends the downloads.
 */
export function expireByHand<P extends Push>(push: P, now: number, { hasGrants }: { hasGrants: boolean }): P {
  if (hasGrants && push.expiredOn !== null && !push.deleted) return { ...push, deleted: true, updatedAt: now }
  if (isExpired(push, now)) return lapse(push, now)
  return { ...push, expiredOn: now, deleted: true, updatedAt: now }
}
