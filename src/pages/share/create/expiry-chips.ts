// The lifetimes and view counts that the create form offers as chips, within this server's limits.

import { DURATIONS, durationProblem, type PushLimits } from '../../../domain/new-push.ts'
import { DAY, HOUR, MINUTE } from '../../../domain/time.ts'
import type { Words } from '../../../words/words.ts'

/** The value of the chip that selects the exact fields. */
export const EXACT = 'exact'

/** 15 minutes, 1 hour, 1, 3, 7 and 30 days, as indexes of DURATIONS. */
const OFFERED_DURATIONS = [0, 3, 6, 8, 12, 15]
const OFFERED_VIEWS = [1, 3, 5, 10]

/** Returns indexes as in `expire_after_duration`. Includes the default if DURATIONS has it. */
export function offeredDurations({ days }: PushLimits): number[] {
  return [...DURATIONS.keys()].filter((index) => {
    const duration = DURATIONS[index] ?? 0
    const isOffered = OFFERED_DURATIONS.includes(index) || duration === days.default * DAY
    return isOffered && durationProblem(duration, days) === null
  })
}

export function offeredViews({ views }: PushLimits): number[] {
  return [...new Set([...OFFERED_VIEWS, views.default])]
    .filter((n) => n >= views.min && n <= views.max)
    .sort((one, other) => one - other)
}

/** The units of exact times, smallest first. */
export const UNITS = ['minutes', 'hours', 'days'] as const
type Unit = (typeof UNITS)[number]

export const MILLISECONDS: Record<Unit, number> = { minutes: MINUTE, hours: HOUR, days: DAY }

/** Returns days if `given` is no unit. */
export function unitOf(given: unknown): Unit {
  return UNITS.find((unit) => unit === given) ?? 'days'
}

/** Converts a lifetime to the largest unit that gives a whole number. */
export function inUnit(lifetime: number): { number: number; unit: Unit } {
  const unit = UNITS.findLast((known) => lifetime % MILLISECONDS[known] === 0) ?? 'minutes'
  return { number: Math.ceil(lifetime / MILLISECONDS[unit]), unit }
}

export function lifetimeText(lifetime: number, words: Words): string {
  const { number, unit } = inUnit(lifetime)
  return words.say(unit, { n: number })
}
