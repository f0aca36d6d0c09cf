// Mail to an account: which events it is notified of, how many messages wait, and a test message.

import type { AccountPreferences, MailWishes } from '../../accounts/preferences.ts'
import type { Account } from '../../domain/account.ts'
import type { Visit } from '../../domain/audit.ts'
import { ADMIN_EVENT_TYPES, EVENT_TYPES, type EventType } from '../../domain/events.ts'
import type { Language } from '../../domain/language.ts'
import { isMailAddress } from '../../domain/mail-address.ts'
import { type DeliveryError, EXPLAINED } from '../../domain/outbox.ts'
import { PAGES } from '../../http/urls.ts'
import { Tick } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Facts } from '../frame/lists.tsx'
import { Card, Notice } from '../frame/parts.tsx'
import { ButtonForm, PostForm } from '../frame/post-form.tsx'

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
  /** Counts the account's messages, to mailboxes and webhooks, that wait or were given up. */
  countMessages: (accountId: number) => Promise<MessageCounts>
}

/** Returns the events that the account may choose. Failed backups are for administrators. */
export const offered = ({ isAdmin }: Account) =>
  EVENT_TYPES.filter((type) => isAdmin || !ADMIN_EVENT_TYPES.includes(type))

export function createMailPages({ mail, preferences, countMessages }: MailPageOptions) {
  /** Returns the card for the account page; null if the server sends no mail. */
  async function section(guest: Member) {
    if (mail === null) return null
    const { say, account } = guest
    const { id, email } = account
    const content = isMailAddress(email) ? (
      <>
        <TestOutcome guest={guest} />
        <WishesForm guest={guest} wishes={await preferences.findMailWishes(account)} />
        <Messages guest={guest} of={[await countMessages(id)]} />
        <TestButton guest={guest} />
      </>
    ) : (
      <p>{say('mail_unsendable', { email })}</p>
    )
    return (
      <Card id="mail" title={say('mail_title')}>
        {content}
      </Card>
    )
  }

  async function keep(guest: Member, form: Form): Promise<Response> {
    const events = offered(guest.account).filter((type) => form.isTicked(type))
    const { language } = guest.words
    await preferences.keepMailWishes(guest.account, { events, language })
    return back(guest, 'saved')
  }

  async function test(guest: Member): Promise<Response> {
    if (mail === null) return back(guest, 'not_configured')
    const { account, viewer, words } = guest
    const { visit } = viewer
    return back(guest, (await mail.sendTest({ account, visit }, words.language)) ?? 'sent')
  }

  return { section, keep, test }
}

function back(guest: Member, outcome: DeliveryError | 'sent' | 'saved'): Response {
  return leadTo(guest, `${PAGES.account.href()}?mail=${outcome}#mail`)
}

function TestOutcome({ guest: { query, words, account } }: { guest: Member }) {
  const outcome = query.get('mail')
  if (outcome === 'sent') return <Notice kind="good">{words.say('mail_test_sent')}</Notice>
  if (outcome === 'saved') return <Notice kind="good">{words.say('mail_wishes_saved')}</Notice>
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

function WishesForm({ guest, wishes }: { guest: Member; wishes: MailWishes }) {
  const { say, account } = guest
  return (
    <PostForm guest={guest} action={PAGES.keepMailWishes.href()} look="narrow">
      <fieldset>
        <legend>{say('mail_wishes', { email: account.email })}</legend>
        <EventTicks guest={guest} isTicked={(type) => wishes.events.includes(type)} />
      </fieldset>
      <p class="hint">{say('mail_wishes_hint')}</p>
      <button type="submit">{say('mail_wishes_save')}</button>
    </PostForm>
  )
}

/** The checkboxes of the events. Their labels complete a sentence that ends in "when". */
export function EventTicks({ guest, isTicked }: { guest: Member; isTicked: (type: EventType) => boolean }) {
  return offered(guest.account).map((type) => (
    <Tick
      id={`event-${type.replace('.', '-')}`}
      name={type}
      label={guest.say(`event_wish_${type}`)}
      isTicked={isTicked(type)}
    />
  ))
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
