// Decides the effect of each visit on a push, and its audit entry. The store reads the push, asks here, and
// writes the change; it decides nothing by itself.

import type { Account } from './account.ts'
import type { AuditKind, Visit } from './audit.ts'
import { decideEdit, type LimitsToEdit } from './editing.ts'
import type { Problems } from './problems.ts'
import { countWrongTry, isExpired, isLimited, isLocked, isOwner, type Push } from './push.ts'
import { NODES_APART } from './time.ts'

/**
 * Returns the time to record for the next change: never before the last one, which another node may have
 * written with a clock that is slightly ahead. If the last change is further ahead, it was written while the
 * clock was wrong.
 */
export function forward({ updatedAt }: Pick<Push, 'updatedAt'>, now: number): number {
  return updatedAt - now > NODES_APART ? now : Math.max(now, updatedAt)
}

/** A decided change: the push afterwards, its time, and the audit entry (null: none). */
export type Change<P extends Push> = {
  after: P
  now: number
  entry: { kind: AuditKind; visit: Visit } | null
  /** The account that asks for the content, if any. */
  by?: number | null
}

/**
 * Decides a retrieval whose link and passphrase are right. The last allowed view still succeeds. A visit of
 * `lookBy`, the owner, is an `owner_view` and does not count; if null, every visit counts. Checks the limit
 * of tries again, because other nodes may have counted tries since the passphrase was checked.
 */
export function decideClaim<P extends Push>(
  push: P,
  { visit, lookBy, by = null }: { visit: Visit; lookBy: Account | null; by?: number | null },
  now: number,
): { outcome: 'view' | 'expired' | 'limited'; change: Change<P> | null } {
  if (isLimited(push, now)) return { outcome: 'limited', change: null }
  if (isExpired(push, now) || push.views >= push.expireAfterViews)
    return { outcome: 'expired', change: { after: push, now, entry: { kind: 'failed_view', visit }, by } }
  if (isOwner(push, lookBy)) {
    const after = push.isNew ? { ...push, isNew: false } : push
    return { outcome: 'view', change: { after, now, entry: { kind: 'owner_view', visit } } }
  }
  const views = push.views + 1
  const expiredOn = views === push.expireAfterViews ? now : null
  // A live push is new only if it has just arrived, and opening it reads it.
  const isNew = expiredOn !== null && !push.isNew && isOwned(push)
  const after = { ...push, views, lastViewedAt: now, expiredOn, isNew, updatedAt: now }
  return { outcome: 'view', change: { after, now, entry: { kind: 'view', visit } } }
}

/**
 * Decides a visit whose passphrase is missing, or `wrong`. Call `decideLastTry` next, with the changed push.
 */
export function decideRefusal<P extends Push>(
  push: P,
  { visit, wrong, by = null }: { visit: Visit; wrong: boolean; by?: number | null },
  now: number,
): { outcome: 'refused' | 'expired' | 'limited'; change: Change<P> | null } {
  if (wrong && isLimited(push, now)) return { outcome: 'limited', change: null }
  if (isExpired(push, now))
    return { outcome: 'expired', change: { after: push, now, entry: { kind: 'failed_view', visit }, by } }
  const after = wrong ? { ...countWrongTry(push, now), updatedAt: now } : push
  return { outcome: 'refused', change: { after, now, entry: { kind: 'failed_passphrase', visit } } }
}

/**
 * Returns null unless the wrong passphrase was the last of `maxTries` (0: no limit). Expires the push if
 * viewers may delete it. Otherwise locks it, so that strangers cannot destroy it by guessing.
 */
export function decideLastTry<P extends Push>(
  push: P,
  { visit, maxTries }: { visit: Visit; maxTries: number },
  now: number,
): Change<P> | null {
  if (maxTries === 0 || push.wrongTriesInAll < maxTries) return null
  const spent = { ...push, triesSpent: true, updatedAt: now }
  return push.deletableByViewer === true
    ? { after: { ...spent, expiredOn: now, isNew: isOwned(push) }, now, entry: { kind: 'expire', visit } }
    : { after: spent, now, entry: { kind: 'lock', visit } }
}

/** Sets all counts of wrong tries to zero. Returns null for a push that is not locked or is expired. */
export function decideUnlock<P extends Push>(push: P, visit: Visit, now: number): Change<P> | null {
  if (!isLocked(push) || isExpired(push, now)) return null
  const after = { ...push, triesSpent: false, wrongTriesInAll: 0, wrongTries: 0, updatedAt: now }
  return { after, now, entry: { kind: 'unlock', visit } }
}

/**
 * Decides a deletion. Returns null if there is nothing to end. Leaves an expired push unchanged, unless
 * `hasGrants` says that its files can still be downloaded after the last view: then marks it deleted, which
 * ends the downloads. If the owner deletes the push, does not mark it as new to them.
 */
export function decideDeletion<P extends Push>(
  push: P,
  { visit, hasGrants, isByOwner = false }: { visit: Visit; hasGrants: boolean; isByOwner?: boolean },
  now: number,
): Change<P> | null {
  const entry = { kind: 'expire' as const, visit }
  const ended = { isNew: isOwned(push) && !isByOwner, updatedAt: now }
  if (!isExpired(push, now))
    return { after: { ...push, ...ended, expiredOn: now, deleted: true }, now, entry }
  if (push.expiredOn === null) return decideLapse(push, now)
  return hasGrants && !push.deleted ? { after: { ...push, deleted: true, updatedAt: now }, now, entry } : null
}

/**
 * Ends a push whose time is up. `expiredOn` is `expiresAt`, not `now`, because the end may be noticed late.
 */
export function decideLapse<P extends Push>(push: P, now: number): Change<P> {
  const isDue = push.expiredOn === null && push.expiresAt <= now
  const after = isDue ? { ...push, expiredOn: push.expiresAt, isNew: isOwned(push), updatedAt: now } : push
  return { after, now, entry: null }
}

/** Ends a push in a database that was rolled back, or restored from a backup made while the push was live. */
export function decideLoss<P extends Push>(push: P, visit: Visit, now: number): Change<P> {
  if (isExpired(push, now)) return decideLapse(push, now)
  const after = { ...push, expiredOn: now, lost: true, isNew: isOwned(push), updatedAt: now }
  return { after, now, entry: { kind: 'expire', visit } }
}

/** Decides the sending of the link by mail. Returns null for an expired push. */
export function decideMailing<P extends Push>(push: P, visit: Visit, now: number): Change<P> | null {
  if (isExpired(push, now)) return null
  return { after: push, now, entry: { kind: 'creation_email_send', visit } }
}

/** Whether the push has an owner, who has not seen its end yet. */
const isOwned = ({ ownerId }: Push) => ownerId !== null

type EditOutcome<P extends Push> =
  | { outcome: 'edited'; change: Change<P> | null }
  | { outcome: 'refused'; problems: Problems }

/**
 * Decides an edit by the owner, by the rules of `decideEdit`. `isLabelled`: its name or note is written as
 * well. `change` is null when the push stays the same.
 */
export function decideEditing<P extends Push>(
  push: P,
  { edit, isLabelled, visit }: { edit: LimitsToEdit; isLabelled: boolean; visit: Visit },
  now: number,
): EditOutcome<P> {
  const decision = decideEdit(push, edit, now)
  if (decision.outcome === 'refused') return decision
  if (!isLabelled && decision.push === push) return { outcome: 'edited', change: null }
  const after = { ...decision.push, updatedAt: now }
  return { outcome: 'edited', change: { after, now, entry: { kind: 'edit', visit } } }
}
