// The defaults that an account saved for its next push. The create form starts with them, within the current
// limits.

import type { NewPush, PushLimits, Range } from './new-push.ts'
import { isEndToEnd } from './push.ts'
import { DAY } from './time.ts'

/**
 * The choices for the next push. A choice is null if it was the server's default, so that a new default takes
 * effect. Holds no content.
 */
export type PushChoices = {
  /** Milliseconds until a push expires. */
  lifetime: number | null
  views: number | null
  retrievalStep: boolean | null
  deletableByViewer: boolean | null
  endToEnd: boolean | null
}

export const NO_CHOICES: PushChoices = {
  ...{ lifetime: null, views: null, retrievalStep: null, deletableByViewer: null, endToEnd: null },
}

type Chosen = Pick<
  NewPush,
  'lifetime' | 'expireAfterViews' | 'retrievalStep' | 'deletableByViewer' | 'encryptedBy'
>

export function choicesOf(push: Chosen, limits: PushLimits): PushChoices {
  const unless = <T>(preset: T, chosen: T): T | null => (chosen === preset ? null : chosen)
  return {
    lifetime: unless(limits.days.default * DAY, push.lifetime),
    views: unless(limits.views.default, push.expireAfterViews),
    retrievalStep: unless(limits.retrievalStep, push.retrievalStep),
    deletableByViewer: unless<boolean | null>(limits.deletableByViewer, push.deletableByViewer),
    endToEnd: unless(isEndToEndByDefault(limits), isEndToEnd(push)),
  }
}

/** Replaces each choice that the limits no longer allow by the nearest allowed one. */
export function fitChoices(choices: PushChoices, { days, views, endToEnd }: PushLimits): PushChoices {
  const { lifetime } = choices
  return {
    ...choices,
    // The minimum of days does not apply to durations under a day.
    lifetime: lifetime === null || lifetime < DAY ? lifetime : DAY * clamp(lifetime / DAY, days),
    views: choices.views === null ? null : clamp(choices.views, views),
    endToEnd: endToEnd === 'off' || endToEnd === 'required' ? null : choices.endToEnd,
  }
}

/** Whether the form begins with the choice to encrypt in the browser. */
export function isEndToEndByDefault({ endToEnd }: Pick<PushLimits, 'endToEnd'>): boolean {
  return endToEnd === 'default' || endToEnd === 'required'
}

function clamp(value: number, { min, max }: Range): number {
  return Math.min(max, Math.max(min, value))
}
