// The results of the checks for mail and webhooks. Never a problem, because messages wait and everything else
// works.

import { type DeliveryFailure, EXPLAINED, errorOf, type FailingHost } from '../domain/outbox.ts'
import { fine, type Verdict, warning } from './health.ts'

export type MailFailure = { error: DeliveryFailure; since?: string }

/**
 * `failure`: why the mail server takes no mail; `shortage`: a sentence about mails that this server refuses.
 */
export function judgeMail(
  name: string,
  failure: MailFailure | null,
  shortage: string | null = null,
): Verdict {
  const refused = shortage === null ? '' : ` ${shortage}`
  if (failure === null) return shortage === null ? fine(`Mail goes to ${name}.`) : warning(shortage)
  const since = failure.since === undefined ? '' : `, since ${failure.since}`
  const said = `The mail server ${name} ${EXPLAINED[errorOf(failure.error)]}${since}: mail waits, for a day at most.`
  return { ...warning(`${said}${refused}`, MEND_MAIL), failing: [{ host: name, error: failure.error }] }
}

const MEND_MAIL =
  'Correct --smtp-url (docs/notices.md), or the server; "oncebox doctor" tries it without a mail.'

/** `failing`: the hosts of webhooks that failed at their last try. */
export function judgeWebhooks(failing: readonly FailingHost[]): Verdict {
  if (failing.length === 0) return fine('No webhook fails.')
  const told = failing.map(
    ({ host, error, count = 1 }) =>
      `${host} ${EXPLAINED[errorOf(error)]}${count > 1 ? ` (${count} webhooks)` : ''}`,
  )
  return { ...warning(`${told.join('; ')}.`, MEND_WEBHOOKS), failing }
}

const MEND_WEBHOOKS =
  'Mend the receiver or --webhook-hosts, or delete the webhook; messages wait, for a day at most (docs/notices.md).'
