// The texts of mails: plain, in the language of the recipient. A link is alone on its line, so that every
// mail program recognises it.

import type { EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import { wordsOf } from '../words/words.ts'

export type MailText = { subject: string; text: string; language: Language }

/** Facts for every mail. `name` and `home`: those of this server. */
export type MailFacts = { language: Language; name: string; home: string }

type LinkFacts = {
  link: string
  /** The address of the account that shares the push; null if the sender chose not to show it. */
  sender: string | null
  views: number
  expiresAt: number
  passphraseRequired: boolean
}

export function writeLinkMail(facts: LinkFacts, writing: MailFacts): MailText {
  const { say, moment } = wordsOf(writing.language)
  const { link, sender, passphraseRequired } = facts
  const subject = sender === null ? say('mail_link_subject') : say('mail_link_subject_from', { sender })
  const limits = { views: say('views', { n: facts.views }), expires: moment(facts.expiresAt) }
  return compose(
    subject,
    [
      subject,
      say('mail_link', limits),
      link,
      ...(passphraseRequired ? [say('mail_link_passphrase')] : []),
      say('mail_link_unexpected'),
    ],
    writing,
  )
}

type AccountLinkFacts = { purpose: 'invite' | 'reset'; link: string; expiresAt: number }

export function writeAccountLink(facts: AccountLinkFacts, writing: MailFacts): MailText {
  const { say, moment } = wordsOf(writing.language)
  const { purpose, link, expiresAt } = facts
  const { name } = writing
  const text = say(`mail_${purpose}`, { name, until: moment(expiresAt) })
  const hints = purpose === 'reset' ? [say('mail_reset_effect'), say('mail_reset_ignore')] : []
  return compose(say(`mail_${purpose}_subject`, { name }), [text, link, ...hints], writing)
}

type EventFacts = { type: EventType; at: number; list: string }

export function writeEvent({ type, at, list }: EventFacts, writing: MailFacts): MailText {
  const { say, moment } = wordsOf(writing.language)
  const subject = say(`event_${type}`)
  return compose(subject, [subject, moment(at), `${say('mail_event_list')}\n${list}`], writing)
}

export function writeTest(writing: MailFacts): MailText {
  const { say } = wordsOf(writing.language)
  return compose(say('mail_test_subject', { name: writing.name }), [say('mail_test')], writing)
}

function compose(subject: string, parts: readonly string[], writing: MailFacts): MailText {
  const { language, name, home } = writing
  return { language, subject, text: `${parts.join('\n\n')}\n\n-- \n${name}\n${home}\n` }
}
