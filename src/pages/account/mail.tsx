// Mail to an account on its page of notices: how many messages wait, a test message, and why deliveries fail.

import type { AccountPreferences } from '../../accounts/preferences.ts'
import type { Account } from '../../domain/account.ts'
import type { Visit } from '../../domain/audit.ts'
import { ADMIN_EVENT_TYPES, EVENT_TYPES } from '../../domain/events.ts'
import type { Language } from '../../domain/language.ts'
import { type DeliveryError, type DeliveryFailure, errorOf, statusOf } from '../../domain/outbox.ts'
import { PAGES } from '../../http/urls.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { Notice } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

export type MessageCounts = { waiting: number; failed: number }

export type MailPageOptions = {
  /** The data and actions for mail; null if the server sends no mail. */
  mail: {
    mailer: { name: string }
    /** Resolves to the reason if the test was not delivered. Throws `too_many` and `too_many_mails`. */
    sendTest: (
      sender: { account: Account; visit: Visit },
      language: Language,
    ) => Promise<DeliveryError | null>
  } | null
  preferences: AccountPreferences
  /** Counts the account's mails that wait or that were given up. */
  countMessages: (accountId: number) => Promise<MessageCounts>
}

/** Returns the events that the account may choose. Failed backups are for administrators. */
export const offered = ({ isAdmin }: Account) =>
  EVENT_TYPES.filter((type) => isAdmin || !ADMIN_EVENT_TYPES.includes(type))

export function MailOutcome({ guest: { query, words, account } }: { guest: Member }) {
  const outcome = query.get('mail')
  if (outcome === 'sent') return <Notice kind="good">{words.say('mail_test_sent')}</Notice>
  const error = NAMED_ERRORS.find((name) => name === outcome)
  if (error === undefined) return null
  return (
    <Notice kind="bad">
      <p>{words.say('mail_test_failed')}</p>
      {account.isAdmin && <p>{explainDelivery(error, words)}</p>}
    </Notice>
  )
}

/** Errors with a text of their own. */
const NAMED_ERRORS = [
  ...(['not_allowed', 'address_not_allowed', 'name_not_found', 'unreachable', 'tls_failed'] as const),
  ...(['timed_out', 'bad_answer', 'redirected', 'refused', 'receiver_failed'] as const),
  'login_refused',
] satisfies DeliveryError[]

/** Says why a mail server or the host of a webhook failed, with its HTTP status. */
export function explainDelivery(failure: DeliveryFailure, { say }: Words): string {
  const error = errorOf(failure)
  const text = say(`delivery_error_${NAMED_ERRORS.find((named) => named === error) ?? 'other'}`)
  const status = statusOf(failure)
  return status === null ? text : text.replace(/[.。]?$/, (end) => ` (${status})${end}`)
}

type MessagesProps = { guest: Member; of: readonly (MessageCounts | undefined)[] }

/** Shows the numbers of messages that wait or were given up; renders nothing if both are 0. */
export function Messages({ guest: { words }, of }: MessagesProps) {
  const sum = (name: keyof MessageCounts) => of.reduce((all, counts) => all + (counts?.[name] ?? 0), 0)
  const [waiting, failed] = [sum('waiting'), sum('failed')]
  if (waiting + failed === 0) return null
  const facts: [string, string][] = [
    [words.say('mail_waiting'), words.number(waiting)],
    [words.say('mail_failed'), words.number(failed)],
  ]
  return <Facts of={facts} />
}

export function TestButton({ guest }: { guest: Member }) {
  const label = guest.say('mail_test_submit', { email: guest.account.email })
  return (
    <div class="actions">
      <ButtonForm guest={guest} action={PAGES.testMail.href()} label={label} />
    </div>
  )
}
