// Events: notifications to an account about its own pushes, and to administrators about the server. They
// never contain a name, note, link or payload.

import { isExpired, type Push, viewsRemaining } from './push.ts'
import { DAY, formatTime, HOUR } from './time.ts'
import type { Change } from './visits.ts'

export const EVENT_TYPES = [
  ...(['push.opened', 'push.used_up', 'push.expired_unopened', 'push.expires_soon', 'push.locked'] as const),
  ...(['push.tried_after_end', 'request.answered', 'backup.failed'] as const),
  ...(['token.pauses_soon', 'account.break_glass'] as const),
]

export type EventType = (typeof EVENT_TYPES)[number]

/** The types that only administrators get. */
export const ADMIN_EVENT_TYPES: readonly EventType[] = ['backup.failed', 'account.break_glass']

/** How long events are kept. */
export const KEPT_FOR = 7 * DAY

/** How long before a push expires its owner is notified. */
export const SOON = DAY

/** How long to send no further event about tries on an ended push. */
export const TRIES_APART = HOUR

/**
 * Returns the events of a change for the owner of the push. The last allowed view makes two: opened and used
 * up. A try of the owner on an ended push makes none.
 */
export function eventsOf(before: Push, { after, entry, by = null }: Change<Push>): readonly EventType[] {
  if (entry?.kind === 'failed_view') return before.ownerId === by ? NOTHING : TRIED
  if (after.views > before.views) return after.expiredOn === null ? OPENED : OPENED_LAST
  if (after.triesSpent && !before.triesSpent) return LOCKED
  const hasLapsed = before.expiredOn === null && after.expiredOn !== null && entry === null
  return hasLapsed && after.views === 0 ? UNOPENED : NOTHING
}

const OPENED: readonly EventType[] = ['push.opened']
const OPENED_LAST: readonly EventType[] = ['push.opened', 'push.used_up']
const LOCKED: readonly EventType[] = ['push.locked']
const UNOPENED: readonly EventType[] = ['push.expired_unopened']
export const TRIED: readonly EventType[] = ['push.tried_after_end']
const NOTHING: readonly EventType[] = []

/**
 * Whether a push expires soon. Excludes a push that was given a shorter lifetime, because its sender knows.
 */
export function expiresSoon({ createdAt, expiresAt, expiredOn }: Push, now: number): boolean {
  return expiredOn === null && expiresAt > now && expiresAt <= now + SOON && expiresAt - createdAt > SOON
}

/** Describes the push of an event, beside the id that all events of the push share. */
export function describePush(push: Push, now: number) {
  return {
    kind: push.kind,
    views_remaining: viewsRemaining(push),
    expires_at: formatTime(push.expiresAt),
    expired: isExpired(push, now),
  }
}
