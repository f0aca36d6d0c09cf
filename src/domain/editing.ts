// What the owner of a push may change about it later: its name and note, and limits that end it sooner.

import { DURATIONS } from './new-push.ts'
import type { Problem, Problems } from './problems.ts'
import { isExpired, type Push } from './push.ts'
import { DAY } from './time.ts'

/** Null leaves a limit as it is. */
export type LimitsToEdit = {
  /** Whole days, counted from creation. */
  expireAfterDays: number | null
  /** An index into `DURATIONS`, counted from creation. */
  duration: number | null
  /** An exact moment. */
  expiresAt: number | null
  expireAfterViews: number | null
}

/** Null leaves a label as it is, '' removes it. */
export type LabelsToEdit = { name: string | null; note: string | null }

export type PushEdit = LabelsToEdit & LimitsToEdit

/** `edited` is the same push when nothing changes. */
export type EditDecision<P extends Push = Push> =
  | { outcome: 'edited'; push: P }
  | { outcome: 'refused'; problems: Problems }

/**
 * Applies the new limits; the soonest counts. Refuses a limit that would let the push live longer, one that has been reached
 * already (ending a push is another operation), and any change to the limits of an expired push.
 */
export function decideEdit<P extends Push>(push: P, edit: LimitsToEdit, now: number): EditDecision<P> {
  const problems = problemsOf(push, edit, now)
  if (Object.keys(problems).length > 0) return { outcome: 'refused', problems }
  const limits = { ...soonest(push, edit), expireAfterViews: edit.expireAfterViews ?? push.expireAfterViews }
  const isSame =
    limits.expiresAt === push.expiresAt &&
    limits.expireAfterDays === push.expireAfterDays &&
    limits.expireAfterViews === push.expireAfterViews
  return { outcome: 'edited', push: isSame ? push : { ...push, ...limits, updatedAt: now } }
}

function problemsOf(push: Push, edit: LimitsToEdit, now: number): Problems {
  const found: [string, Problem | null][] = [
    ['expire_after_days', daysProblem(push, edit.expireAfterDays, now)],
    ['expire_after_duration', momentProblem(push, momentOf(push, edit.duration), now)],
    ['expires_at', momentProblem(push, edit.expiresAt, now)],
    ['expire_after_views', viewsProblem(push, edit.expireAfterViews, now)],
  ]
  return Object.fromEntries(found.flatMap(([name, problem]) => (problem === null ? [] : [[name, [problem]]])))
}

function daysProblem(push: Push, days: number | null, now: number): Problem | null {
  const { expireAfterDays: max, createdAt } = push
  if (days === null || days === max) return null
  if (isExpired(push, now)) return { code: 'ended' }
  const min = Math.floor((now - createdAt) / DAY) + 1
  return days >= min && days < max ? null : { code: 'out_of_range', min, max }
}

function momentProblem(push: Push, moment: number | null, now: number): Problem | null {
  if (moment === null || moment === push.expiresAt) return null
  if (isExpired(push, now)) return { code: 'ended' }
  if (moment > push.expiresAt) return { code: 'lives_longer' }
  return moment <= now ? { code: 'has_passed' } : null
}

function viewsProblem(push: Push, views: number | null, now: number): Problem | null {
  const { expireAfterViews: max } = push
  if (views === null || views === max) return null
  if (isExpired(push, now)) return { code: 'ended' }
  const min = push.views + 1
  return views >= min && views < max ? null : { code: 'out_of_range', min, max }
}

function momentOf({ createdAt }: Push, duration: number | null): number | null {
  const lifetime = duration === null ? undefined : DURATIONS[duration]
  return lifetime === undefined ? null : createdAt + lifetime
}

function soonest(push: Push, { expireAfterDays, duration, expiresAt }: LimitsToEdit) {
  const isShorter = expireAfterDays !== null && expireAfterDays < push.expireAfterDays
  const byDays = isShorter ? push.createdAt + expireAfterDays * DAY : null
  const moments = [byDays, momentOf(push, duration), expiresAt].filter((moment) => moment !== null)
  const end = Math.min(push.expiresAt, ...moments)
  if (end === push.expiresAt) return { expiresAt: end, expireAfterDays: push.expireAfterDays }
  return { expiresAt: end, expireAfterDays: Math.ceil((end - push.createdAt) / DAY) }
}
