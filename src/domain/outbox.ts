// The outbox: the kinds of messages that wait to be sent, when a failed delivery is retried, and why
// deliveries fail.

import type { EventType } from './events.ts'
import { DAY, HOUR, SECOND } from './time.ts'

/** link_mail: the link of a push, deleted when the push ends. account_mail: an invitation or a reset. */
export type OutboxKind = 'webhook' | 'event_mail' | 'link_mail' | 'account_mail'

export const WEBHOOK_FORMATS = [
  ...(['standard', 'ntfy', 'gotify', 'slack', 'teams', 'matrix', 'home-assistant'] as const),
]

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

/** A webhook to add. `withName`: its messages contain the name of the push. */
export type NewWebhook = {
  url: string
  events: EventType[]
  format: WebhookFormat
  withName: boolean
}

/**
 * The reason of a failed delivery, for operators; follows the receiver's name. Nothing else of an answer or
 * error is stored or shown.
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

/** An error as it is stored; with the HTTP status if the receiver answered: `refused 403`. */
export type DeliveryFailure = DeliveryError | `${DeliveryError} ${number}`

export function errorOf(failure: DeliveryFailure): DeliveryError {
  return failure.split(' ')[0] as DeliveryError
}

/** A receiver whose last delivery failed; `count` is the number of webhooks with this host. */
export type FailingHost = { host: string; error: DeliveryFailure; count?: number }

/** Returns the HTTP status of the receiver; null if it did not answer with one. */
export function statusOf(failure: DeliveryFailure): number | null {
  return Number(failure.split(' ')[1]) || null
}

/** The most webhooks of an account, and of the administrators together. */
export const MOST_WEBHOOKS = 20
/** The most messages that wait for one webhook; further ones are dropped until some are delivered. */
export const MOST_WAITING = 1_000
/** The most event mails that wait for one account. */
export const MOST_WAITING_MAILS = 100

/** The deadline of a delivery, after which a message is given up. */
export const GIVE_UP_AFTER = DAY
/** How long a message that was given up is listed as failed. */
export const FAILED_KEPT = 7 * DAY
/**
 * The lease of a delivery, longer than an attempt takes. If its node dies, the message is retried when the
 * lease ends.
 */
export const LEASE = 20 * SECOND

const FIRST_PAUSE = 10 * SECOND
const LONGEST_PAUSE = 2 * HOUR

/**
 * Returns the time of the next try, with exponential backoff. The message has failed `tries` times, the last
 * time at `now`.
 */
export function nextTryAt({ at, tries }: { at: number; tries: number }, now: number): number {
  const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 3 ** (tries - 1))
  return Math.min(now + pause, at + GIVE_UP_AFTER)
}
