// What each visit does to a push that was read, decided by the rules of the domain. Nothing here reads or writes: the change is
// written later, together with those of other visits.

import type { Visit } from '../../../domain/audit.ts'
import {
  countWrongTry,
  decideView,
  expireByHand,
  isExpired,
  isLastTry,
  isLocked,
  lapse,
  spendTries,
  unlock,
} from '../../../domain/push.ts'
import type { Claim, Claimed, PushStore, StoredPush, Visited } from '../../face.ts'
import { addStep, type Change } from './push-changes.ts'
import { presentPush } from './stored-push.ts'

/** `certain` is the time by which something may be destroyed. */
export type Times = { now: number; certain: number }

/** Counts a view, or audits that there is nothing to view any more. */
export function claim(
  change: Change,
  { visit, lookBy }: Omit<Claim, 'id'>,
  { now, certain }: Times,
): Claimed {
  const before = change.after
  const { outcome, kind, push: viewed } = decideView(before, { now, lookBy })
  const after = outcome === 'expired' ? lapse(before, certain) : viewed
  return { outcome, push: presentPush(addStep(change, { after, now, entry: { kind, visit } })) }
}

export function refusePassphrase(
  change: Change,
  { visit, wrong, maxTries }: Omit<Parameters<PushStore['refusePassphrase']>[0], 'id'>,
  { now, certain }: Times,
): Visited<'refused' | 'expired'> {
  const before = change.after
  if (isExpired(before, now)) {
    const step = { after: lapse(before, certain), now, entry: { kind: 'failed_view' as const, visit } }
    return { outcome: 'expired', push: presentPush(addStep(change, step)) }
  }
  const after = wrong ? countWrongTry(before, now) : before
  const tried = addStep(change, { after, now, entry: { kind: 'failed_passphrase', visit } })
  const isLast = wrong && isLastTry(tried, maxTries)
  return { outcome: 'refused', push: isLast ? spend(change, visit, now) : presentPush(tried) }
}

function spend(change: Change, visit: Visit, now: number): StoredPush {
  const after = spendTries(change.after, now)
  const kind = after.expiredOn === null ? 'lock' : 'expire'
  return presentPush(addStep(change, { after, now, entry: { kind, visit } }))
}

/** Does nothing to a push that is not locked or has expired. */
export function unlockPush(change: Change, visit: Visit, { now }: Times): StoredPush {
  const before = change.after
  if (!isLocked(before) || isExpired(before, now)) return presentPush(before)
  const entry = { kind: 'unlock' as const, visit }
  return presentPush(addStep(change, { after: unlock(before, now), now, entry }))
}

/** Ends a push by hand; `isGranted` tells whether files of an earlier last view can still be downloaded. */
export function expirePush(
  change: Change,
  { visit, isGranted }: { visit: Visit; isGranted: boolean },
  { certain }: Times,
): StoredPush {
  const before = change.after
  const hasGrants = isGranted || isGrantedNow(change)
  // By `certain`, a push that only the clock in doubt has ended is still live, and so becomes deleted.
  const after = expireByHand(before, certain, { hasGrants })
  if (after === before) return presentPush(before)
  const entry = after.deleted ? { kind: 'expire' as const, visit } : null
  return presentPush(addStep(change, { after, now: certain, entry }))
}

/** Whether the last view is part of the same change. */
function isGrantedNow({ end, after }: Change): boolean {
  return after.files > 0 && end !== null && end.keepUntil !== null
}
