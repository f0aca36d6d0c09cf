// The request for a new push, and the limits of the instance that bound it.

import { hasMoreBytes, hasMoreCharacters } from '../text/text-length.ts'
import { isWebAddress } from '../text/web-address.ts'
import type { Language } from './language.ts'
import type { Problem } from './problems.ts'
import type { AgeSealer, PushKind } from './push.ts'
import { DAY, HOUR, MINUTE } from './time.ts'

export type Range = { min: number; max: number; default: number }

/** Whether pushes may be end-to-end. `default`: offered, and preselected in the form. */
export const END_TO_END_RULES = ['offered', 'default', 'required', 'off'] as const
export type EndToEndRule = (typeof END_TO_END_RULES)[number]

/** The instance's limits and defaults, published by `GET /version`. */
export type PushLimits = {
  payloadBytes: number
  fileBytes: number
  files: number
  days: Range
  views: Range
  retrievalStep: boolean
  deletableByViewer: boolean
  /** Whether accounts may show their address to recipients. */
  showSender: boolean
  /** Whether each new push needs a passphrase. */
  requirePassphrase: boolean
  /** The most views of a push without an account; null for the same as with one. */
  viewsAnonymous: number | null
  kinds: ReadonlySet<PushKind>
  /** Whether the server can send links by mail. */
  mail: boolean
  endToEnd: EndToEndRule
}

/** Returns the limits of a push that somebody without an account creates. */
export function anonymousLimits(limits: PushLimits): PushLimits {
  const { views, viewsAnonymous } = limits
  if (viewsAnonymous === null) return limits
  const atMost = (n: number) => Math.min(n, viewsAnonymous)
  return { ...limits, views: { min: views.min, max: atMost(views.max), default: atMost(views.default) } }
}

/** A request for a push, checked against the limits and completed with the defaults. */
export type NewPush = {
  kind: PushKind
  payload: string
  passphrase: string | null
  name: string
  /** Whether the name was entered as that of the recipient, and not as a label by a program. */
  namesRecipient: boolean
  note: string
  expireAfterDays: number
  expireAfterViews: number
  /** Time until expiry, in milliseconds; `expireAfterDays` is the same rounded up to whole days. */
  lifetime: number
  deletableByViewer: boolean | null
  retrievalStep: boolean
  showsSender: boolean
  codeRequired: boolean
  encryptedBy: AgeSealer | null
  keyCheck: string | null
  /** The recipients of the link by mail and their language; null without recipients. */
  mail: LinkMail | null
}

export type LinkMail = { recipients: readonly string[]; language: Language }

/** The largest limits that an instance can allow. */
export const MAX_DAYS = 3650
export const MAX_VIEWS = 1_000_000
export const MAX_QR_CHARACTERS = 1024
export const MAX_PASSPHRASE_BYTES = 1024
export const MAX_NAME_CHARACTERS = 255
export const MAX_NOTE_CHARACTERS = 10_000

/** `expire_after_duration` is an index into this list, which the hosted service defines. */
export const DURATIONS: readonly number[] = [
  ...[15, 30, 45].map((minutes) => minutes * MINUTE),
  ...[1, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 4, 5, 6, 7, 14, 21, 30, 60, 90].map((days) => days * DAY),
]

type Lifetime = { lifetime: number; expireAfterDays: number }

/** Returns the shorter of the given days and duration; the default when neither is given. */
export function decideLifetime(
  given: { days: number | null; duration: number | null },
  range: Range,
): Lifetime {
  const byDays = (given.days ?? (given.duration === null ? range.default : Number.POSITIVE_INFINITY)) * DAY
  const lifetime = Math.min(byDays, given.duration ?? Number.POSITIVE_INFINITY)
  return { lifetime, expireAfterDays: Math.ceil(lifetime / DAY) }
}

/**
 * Returns the problem with a duration, or null. The minimum of days does not apply to durations under a day.
 */
export function durationProblem(duration: number, range: Range): Problem | null {
  if (duration > range.max * DAY) return { code: 'too_many_days', limit: range.max }
  const isShort = duration >= DAY && duration < range.min * DAY
  return isShort ? { code: 'too_few_days', limit: range.min } : null
}

/** Returns the problem with a payload of this kind, or null. */
export function payloadProblem(kind: PushKind, payload: string, limits: PushLimits): Problem | null {
  if (hasMoreBytes(payload, limits.payloadBytes))
    return { code: 'too_long_bytes', limit: limits.payloadBytes }
  if (kind === 'qr' && hasMoreCharacters(payload, MAX_QR_CHARACTERS)) {
    return { code: 'too_long_characters', limit: MAX_QR_CHARACTERS }
  }
  if (!payload.isWellFormed()) return { code: 'not_unicode' }
  if (payload.trim() === '') return kind === 'file' ? null : { code: 'blank' }
  return kind === 'url' && !isWebAddress(payload) ? { code: 'not_web_address' } : null
}
