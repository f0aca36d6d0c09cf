// The initial values of a new form, from its URL or the push to repeat; else from the account's saved
// choices; else from the server's defaults.

import { DURATIONS, type PushLimits } from '../../../domain/new-push.ts'
import { isEndToEnd } from '../../../domain/push.ts'
import {
  fitChoices,
  isEndToEndByDefault,
  NO_CHOICES,
  type PushChoices,
} from '../../../domain/push-choices.ts'
import { DAY } from '../../../domain/time.ts'
import type { LabelledPush } from '../../../pushes/owner-lists.ts'
import type { Typed } from './create-sender.ts'
import { EXACT, inUnit, offeredDurations, offeredViews } from './expiry-chips.ts'

/** The requested settings of a new push, never a secret. Null leaves a choice to the account. */
type RequestedSettings = PushChoices & { kind: string; name: string; note: string }

export const NOTHING_REQUESTED: RequestedSettings = { ...NO_CHOICES, kind: '', name: '', note: '' }

/**
 * Reads the settings in a query. It uses the API's names: kind, name, note, expire_after_duration,
 * expire_after_days and so on.
 */
export function requestedIn(query: URLSearchParams): RequestedSettings {
  const days = numberIn(query, 'expire_after_days')
  const index = numberIn(query, 'expire_after_duration')
  return {
    kind: query.get('kind') ?? '',
    name: query.get('name') ?? '',
    note: query.get('note') ?? '',
    lifetime: shorterOf(days, index === null ? undefined : DURATIONS[index]),
    views: numberIn(query, 'expire_after_views'),
    retrievalStep: booleanIn(query, 'retrieval_step'),
    deletableByViewer: booleanIn(query, 'deletable_by_viewer'),
    endToEnd: booleanIn(query, 'end_to_end'),
  }
}

/** Returns the settings of a push to repeat, without its payload and passphrase. */
export function requestedOf({ push, name, note }: LabelledPush): RequestedSettings {
  const { kind, createdAt, expiresAt, expireAfterDays, expireAfterViews, retrievalStep, deletableByViewer } =
    push
  // Keep the account's choice if the push to repeat can be read by the server.
  const endToEnd = isEndToEnd(push) ? true : null
  const duration = DURATIONS.find((known) => known === expiresAt - createdAt)
  const lifetime = shorterOf(expireAfterDays, duration)
  return { kind, name, note, lifetime, views: expireAfterViews, retrievalStep, deletableByViewer, endToEnd }
}

/** Returns the shorter lifetime, as the API does; null if neither is given. */
function shorterOf(days: number | null, duration: number | undefined): number | null {
  if (days === null || days === 0) return duration ?? null
  return Math.min(days * DAY, duration ?? Number.POSITIVE_INFINITY)
}

type PresetOptions = { requested: RequestedSettings; choices: PushChoices; limits: PushLimits }

export function presetOf({ requested, choices, limits }: PresetOptions): Typed {
  const { lifetime, views, retrievalStep, deletableByViewer, endToEnd } = fitChoices(
    {
      lifetime: requested.lifetime ?? choices.lifetime,
      views: requested.views ?? choices.views,
      retrievalStep: requested.retrievalStep ?? choices.retrievalStep,
      deletableByViewer: requested.deletableByViewer ?? choices.deletableByViewer,
      endToEnd: requested.endToEnd ?? choices.endToEnd,
    },
    limits,
  )
  const fields: Record<string, string> = {
    kind: requested.kind,
    name: requested.name,
    note: requested.note,
    ...lifetimeFields(lifetime ?? limits.days.default * DAY, limits),
    ...viewFields(views ?? limits.views.default, limits),
    retrieval_step: String(retrievalStep ?? limits.retrievalStep),
    deletable_by_viewer: String(deletableByViewer ?? limits.deletableByViewer),
    end_to_end: String(endToEnd ?? isEndToEndByDefault(limits)),
  }
  return (field) => fields[field] ?? ''
}

/**
 * Selects the chip with this lifetime, or the exact fields if no chip has it. Always fills in the exact
 * fields.
 */
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

function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : null
}

function booleanIn(query: URLSearchParams, name: string): boolean | null {
  const text = query.get(name)
  return text === 'true' ? true : text === 'false' ? false : null
}
