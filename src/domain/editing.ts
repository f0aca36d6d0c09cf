// Edits of a push by its owner: its name and note, and limits that end it sooner.

import { DURATIONS } from './new-push.ts'
import type { Problem, Problems } from './problems.ts'
import { isExpired, type Push } from './push.ts'
import { DAY } from './time.ts'

/** The new limits. Null leaves a limit unchanged. */
export type LimitsToEdit = {
  /** Whole days, counted from creation. */
  expireAfterDays: number | null
  /** An index into `DURATIONS`, a time counted from creation. */
  duration: number | null
  /** An exact moment. */
  expiresAt: number | null
  expireAfterViews: number | null
}

/**
 * The new labels: null leaves a label unchanged, '' removes it. `namesRecipient`: whether the name was
 * entered as that of the recipient.
 */
export type LabelsToEdit = { name: string | null; note: string | null; namesRecipient?: boolean }

export type PushEdit = LabelsToEdit & LimitsToEdit

/** An edit as read from a request, and the problems that can be found without the push. */
export type WantedEdit = { edit: PushEdit; problems: Problems }

/** A decided edit. The push is identical when nothing changes. */
export type EditDecision<P extends Push = Push> =
  | { outcome: 'edited'; push: P }
  | { outcome: 'refused'; problems: Problems }

/**
 * Applies the new limits; the push ends at the first that is reached. Refuses a limit that would let it live
 * longer, a limit that is reached already (use another operation to end a push), and any change to the limits
 * of an expired push.
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
  const { createdAt, expireAfterDays, expireAfterViews, expiresAt, views } = push
  const isEnded = isExpired(push, now)
  const check = (value: number | null, present: number, problemOf: (value: number) => Problem | null) => {
    if (value === null || value === present) return null
    return isEnded ? ({ code: 'ended' } as const) : problemOf(value)
  }
  const below = (max: number, min: number) => (value: number) =>
    value >= min && value < max ? null : ({ code: 'out_of_range', min, max } as const)
  const sooner = (moment: number): Problem | null => {
    if (moment > expiresAt) return { code: 'lives_longer' }
    return moment <= now ? { code: 'has_passed' } : null
  }
  const firstDay = Math.floor((now - createdAt) / DAY) + 1
  const found = {
    expire_after_days: check(edit.expireAfterDays, expireAfterDays, below(expireAfterDays, firstDay)),
    expire_after_duration: check(momentOf(push, edit.duration), expiresAt, sooner),
    expires_at: check(edit.expiresAt, expiresAt, sooner),
    expire_after_views: check(edit.expireAfterViews, expireAfterViews, below(expireAfterViews, views + 1)),
  }
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, problem]) => (problem === null ? [] : [[name, [problem]]])),
  )
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
