// What each visit does to a push that was read, as the rules of the domain decide. Nothing here reads or writes: the change is
// written later, together with those of other visits.

import type { Visit } from '../../../domain/audit.ts'
import {
  decideClaim,
  decideDeletion,
  decideLastTry,
  decideRefusal,
  decideUnlock,
  type Step,
  type Times,
} from '../../../domain/visits.ts'
import type { Claim, Claimed, PushStore, StoredPush, Visited } from '../../face.ts'
import { addStep, type Change } from './push-changes.ts'
import { type PushRow, presentPush } from './stored-push.ts'

/** Counts a view, or audits that there is nothing to view any more. */
export function claim(change: Change, asked: Omit<Claim, 'id'>, times: Times): Claimed {
  const { outcome, step } = decideClaim(change.after, asked, times)
  return { outcome, push: take(change, step) }
}

export function refusePassphrase(
  change: Change,
  asked: Omit<Parameters<PushStore['refusePassphrase']>[0], 'id'>,
  times: Times,
): Visited<'refused' | 'expired'> {
  const { outcome, step } = decideRefusal(change.after, asked, times)
  const refused = take(change, step)
  const last = outcome === 'expired' ? null : decideLastTry(change.after, asked, times.now)
  return { outcome, push: last === null ? refused : take(change, last) }
}

/** Does nothing to a push that is not locked or has expired. */
export function unlockPush(change: Change, visit: Visit, { now }: Times): StoredPush {
  return take(change, decideUnlock(change.after, visit, now))
}

/** Deletes a push. `isGranted`: files of an earlier last view can still be downloaded. */
export function expirePush(
  change: Change,
  { visit, isGranted }: { visit: Visit; isGranted: boolean },
  { certain }: Times,
): StoredPush {
  const hasGrants = isGranted || isGrantedNow(change)
  return take(change, decideDeletion(change.after, { visit, hasGrants }, certain))
}

function take(change: Change, step: Step<PushRow> | null): StoredPush {
  return presentPush(step === null ? change.after : addStep(change, step))
}

/** Whether the last view is part of the same change. */
function isGrantedNow({ end, after }: Change): boolean {
  return after.files > 0 && end !== null && end.keepUntil !== null
}
