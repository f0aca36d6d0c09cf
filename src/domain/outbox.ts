// What waits to be told outside: its kinds, when a failed delivery is tried again, and the reasons why one
// fails.

import type { EventType } from './events.ts'
import { DAY, HOUR, SECOND } from './time.ts'

/** link_mail: with the link of a push, and gone when that ends. account_mail: an invitation or a reset. */
export type OutboxKind = 'webhook' | 'event_mail' | 'link_mail' | 'account_mail'

export const WEBHOOK_FORMATS = [
  ...(['standard', 'ntfy', 'gotify', 'slack', 'teams', 'matrix', 'home-assistant'] as const),
]

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** `withName`: whether it is told the name of a push, too. */
export type NewWebhook = {
  url: string
  events: EventType[]
  format: WebhookFormat
  withName: boolean
}

/**
 * Why a delivery failed, for operators; follows the name of the receiver. Nothing of an answer or an error is
 * kept or shown besides.
 */
export const EXPLAINED = {
  not_allowed: 'is not allowed by the settings',
  address_not_allowed: 'has an address that the settings do not allow',
  name_not_found: 'has a name that nobody knows',
  unreachable: 'cannot be reached, or ends the connection',
  tls_failed: 'has no TLS, or a certificate that does not verify',
  timed_out: 'does not answer in time',
  bad_answer: 'answers something else than was asked for',
  login_refused: 'refuses the user and the password',
  limited: 'had too many messages in this hour',
  redirected: 'redirects elsewhere',
  refused: 'refuses the message',
  receiver_failed: 'cannot take the message now',
  damaged: 'has a message that cannot be opened',
  not_configured: 'is not configured',
}

export type DeliveryError = keyof typeof EXPLAINED

/** Of an account, and of the administrators for everybody. */
export const MOST_WEBHOOKS = 20
/** Messages that wait for one webhook; later ones are left out until some are delivered. */
export const MOST_WAITING = 1_000
/** Mails of events that wait for one account. */
export const MOST_WAITING_MAILS = 100

/** A message that was not delivered by then is given up. */
export const GIVE_UP_AFTER = DAY
/** How long a message that was given up is still shown as failed. */
export const FAILED_KEPT = 7 * DAY
/** Longer than a try takes: a message whose node died in the middle is tried again after it. */
export const LEASE = 20 * SECOND

const FIRST_PAUSE = 10 * SECOND
const LONGEST_PAUSE = 2 * HOUR

/**
 * When a message is tried again that has failed `tries` times, the last time at `now`: after growing pauses.
 */
export function nextTryAt({ at, tries }: { at: number; tries: number }, now: number): number {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 3 ** (tries - 1))
  return Math.min(now + pause, at + GIVE_UP_AFTER)
}
