// What each visit does to a push, and the entry that it leaves in the audit log. An engine of the store reads the push, asks
// here, and writes the step; it decides nothing by itself.

import type { Account } from './account.ts'
import type { AuditKind, Visit } from './audit.ts'
import { decideEdit, type LimitsToEdit } from './editing.ts'
import type { Problems } from './problems.ts'
import {
  countWrongTry,
  decideView,
  expireByHand,
  isExpired,
  isLastTry,
  isLimited,
  isLocked,
  lapse,
  lose,
  type Push,
  spendTries,
  unlock,
} from './push.ts'
import { NODES_APART } from './time.ts'

/**
 * The time of the next thing that happens to a push: never before the last one, which another node may have written. A push
 * whose last change lies further ahead was changed while the clock was wrong.
 */
export function forward({ updatedAt }: Pick<Push, 'updatedAt'>, now: number): number {
  return updatedAt - now > NODES_APART ? now : Math.max(now, updatedAt)
}

/** The push after it, when that was, and the entry in its log; null leaves none. */
export type Step<P extends Push> = {
  after: P
  now: number
  entry: { kind: AuditKind; visit: Visit } | null
}

/**
 * A retrieval whose link and passphrase are right, by the rules of `decideView`. Looks at the limit of tries first, because other
 * nodes may have counted some since the passphrase was checked.
 */
export function decideClaim<P extends Push>(
  push: P,
  { visit, lookBy }: { visit: Visit; lookBy: Account | null },
  now: number,
): { outcome: 'view' | 'expired' | 'limited'; step: Step<P> | null } {
  if (isLimited(push, now)) return { outcome: 'limited', step: null }
  const { outcome, kind, push: after } = decideView(push, { now, lookBy })
  return { outcome, step: { after, now, entry: { kind, visit } } }
}

/** A passphrase that is missing, or `wrong`. Ask `decideLastTry` about the push as it is afterwards. */
export function decideRefusal<P extends Push>(
  push: P,
  { visit, wrong }: { visit: Visit; wrong: boolean },
  now: number,
): { outcome: 'refused' | 'expired' | 'limited'; step: Step<P> | null } {
  if (wrong && isLimited(push, now)) return { outcome: 'limited', step: null }
  if (isExpired(push, now))
    return { outcome: 'expired', step: { after: push, now, entry: { kind: 'failed_view', visit } } }
  const after = wrong ? countWrongTry(push, now) : push
  return { outcome: 'refused', step: { after, now, entry: { kind: 'failed_passphrase', visit } } }
}

/** Null unless the passphrase that was just refused was wrong, and the last of `maxTries`; 0 means no limit. */
export function decideLastTry<P extends Push>(
  push: P,
  { visit, wrong, maxTries }: { visit: Visit; wrong: boolean; maxTries: number },
  now: number,
): Step<P> | null {
  if (!wrong || !isLastTry(push, maxTries)) return null
  const after = spendTries(push, now)
  return { after, now, entry: { kind: after.expiredOn === null ? 'lock' : 'expire', visit } }
}

/** Null for a push that is not locked, or has expired. */
export function decideUnlock<P extends Push>(push: P, visit: Visit, now: number): Step<P> | null {
  if (!isLocked(push) || isExpired(push, now)) return null
  return { after: unlock(push, now), now, entry: { kind: 'unlock', visit } }
}

/** A deletion, by the rules of `expireByHand`. Null when there is nothing to end. */
export function decideDeletion<P extends Push>(
  push: P,
  { visit, hasGrants }: { visit: Visit; hasGrants: boolean },
  now: number,
): Step<P> | null {
  const after = expireByHand(push, now, { hasGrants })
  if (after === push) return null
  return { after, now, entry: after.deleted ? { kind: 'expire', visit } : null }
}

/** The end of a push that ran out of time. */
export function lapseStep<P extends Push>(push: P, now: number): Step<P> {
  return { after: lapse(push, now), now, entry: null }
}

/** The end of a push in a database that was set back, or came from a backup. */
export function lossStep<P extends Push>(push: P, visit: Visit, now: number): Step<P> {
  const after = lose(push, now)
  return { after, now, entry: after.lost ? { kind: 'expire', visit } : null }
}

export type EditStep<P extends Push> =
  | { outcome: 'edited'; step: Step<P> | null }
  | { outcome: 'refused'; problems: Problems }

/**
 * An edit by the owner, by the rules of `decideEdit`. `isLabelled`: its name or note is written as well. `step` is null when
 * the push stays the same.
 */
export function decideEditing<P extends Push>(
  push: P,
  { edit, isLabelled, visit }: { edit: LimitsToEdit; isLabelled: boolean; visit: Visit },
  now: number,
): EditStep<P> {
  const decision = decideEdit(push, edit, now)
  if (decision.outcome === 'refused') return decision
  if (!isLabelled && decision.push === push) return { outcome: 'edited', step: null }
  const after = { ...decision.push, updatedAt: now }
  return { outcome: 'edited', step: { after, now, entry: { kind: 'edit', visit } } }
}
