// Mail to an account on its page of notices: how many messages wait, and a test message.

import type { AccountPreferences } from '../../accounts/preferences.ts'
import type { Account } from '../../domain/account.ts'
import type { Visit } from '../../domain/audit.ts'
import { ADMIN_EVENT_TYPES, EVENT_TYPES } from '../../domain/events.ts'
import type { Language } from '../../domain/language.ts'
import { type DeliveryError, EXPLAINED } from '../../domain/outbox.ts'
import { PAGES } from '../../http/urls.ts'
import type { Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { Notice } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

export type MessageCounts = { waiting: number; failed: number }

export type MailPageOptions = {
  /** The parts of mail; null if the server sends none. */
  mail: {
    mailer: { name: string }
    /** Resolves to the reason if the test was not delivered. Throws `too_many` and `too_many_mails`. */
    sendTest: (
      sender: { account: Account; visit: Visit },
      language: Language,
    ) => Promise<DeliveryError | null>
  } | null
  preferences: AccountPreferences
  /** Counts the account's mails that wait or were given up. */
  countMessages: (accountId: number) => Promise<MessageCounts>
}

/** Returns the events that the account may choose. Failed backups are for administrators. */
export const offered = ({ isAdmin }: Account) =>
  EVENT_TYPES.filter((type) => isAdmin || !ADMIN_EVENT_TYPES.includes(type))

export function MailOutcome({ guest: { query, words, account } }: { guest: Member }) {
  const outcome = query.get('mail')
  if (outcome === 'sent') return <Notice kind="good">{words.say('mail_test_sent')}</Notice>
  const explained = Object.entries(EXPLAINED).find(([error]) => error === outcome)?.[1]
  if (explained === undefined) return null
  return (
    <Notice kind="bad">
      <p>{words.say('mail_test_failed')}</p>
      {/* For administrators only, and in English like all results of checks. */}
      {account.isAdmin && (
        <p lang="en" dir="ltr">
          The mail server {explained}.
        </p>
      )}
    </Notice>
  )
}

type MessagesProps = { guest: Member; of: readonly (MessageCounts | undefined)[] }

/** Renders nothing if no message waits and none was given up. */
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
