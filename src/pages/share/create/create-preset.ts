// The values that a new form starts with: those in its address, for links such as "share again like this"; else those that the
// account asked to use again; else the defaults of this server.

import { DURATIONS, type PushLimits } from '../../../domain/new-push.ts'
import { fitChoices, type PushChoices } from '../../../domain/push-choices.ts'
import { DAY } from '../../../domain/time.ts'
import type { Typed } from './create-sender.ts'
import { EXACT, inUnit, offeredDurations, offeredViews } from './expiry-chips.ts'

export type PresetOptions = { query: URLSearchParams; choices: PushChoices; limits: PushLimits }

/** The query has the names of the API: kind, name, note, expire_after_duration, expire_after_days and so on. Never a secret. */
export function presetOf({ query, choices, limits }: PresetOptions): Typed {
  const wanted = fitChoices(
    {
      lifetime: lifetimeIn(query) ?? choices.lifetime,
      views: numberIn(query, 'expire_after_views') ?? choices.views,
      retrievalStep: booleanIn(query, 'retrieval_step') ?? choices.retrievalStep,
      deletableByViewer: booleanIn(query, 'deletable_by_viewer') ?? choices.deletableByViewer,
    },
    limits,
  )
  const fields: Record<string, string> = {
    kind: query.get('kind') ?? '',
    name: query.get('name') ?? '',
    note: query.get('note') ?? '',
    ...lifetimeFields(wanted.lifetime ?? limits.days.default * DAY, limits),
    ...viewFields(wanted.views ?? limits.views.default, limits),
    retrieval_step: String(wanted.retrievalStep ?? limits.retrievalStep),
    deletable_by_viewer: String(wanted.deletableByViewer ?? limits.deletableByViewer),
  }
  return (field) => fields[field] ?? ''
}

/** Chooses the chip with this lifetime, or the exact fields when no chip has it. Fills in the exact fields in any case. */
function lifetimeFields(lifetime: number, limits: PushLimits): Record<string, string> {
  const { number, unit } = inUnit(lifetime)
  const chip = offeredDurations(limits).find((index) => DURATIONS[index] === lifetime)
  return {
    expire_after_duration: chip === undefined ? EXACT : String(chip),
    expire_after: String(number),
    expire_unit: unit,
  }
}

function viewFields(views: number, limits: PushLimits): Record<string, string> {
  const isOffered = offeredViews(limits).includes(views)
  return { views: isOffered ? String(views) : EXACT, expire_after_views: String(views) }
}

/** The shorter one of days and duration, as in the API; null for neither. */
function lifetimeIn(query: URLSearchParams): number | null {
  const days = numberIn(query, 'expire_after_days')
  const index = numberIn(query, 'expire_after_duration')
  const duration = index === null ? null : (DURATIONS[index] ?? null)
  if (days === null || days === 0) return duration
  return Math.min(days * DAY, duration ?? Number.POSITIVE_INFINITY)
}

function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : null
}

function booleanIn(query: URLSearchParams, name: string): boolean | null {
  const text = query.get(name)
  return text === 'true' ? true : text === 'false' ? false : null
}
