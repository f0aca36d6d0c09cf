// Sends the mails of the outbox. First checks whether their reason still holds, and only then reads the rest
// of their content.

import type { AccountPreferences } from '../accounts/preferences.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { hashToken, newRandomToken } from '../crypto/tokens.ts'
import type { Account } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import type { EventType } from '../domain/events.ts'
import type { Language } from '../domain/language.ts'
import type { DeliveryError } from '../domain/outbox.ts'
import { type Push, viewsRemaining } from '../domain/push.ts'
import type { MailLimit, TestLimit } from '../pushes/limits.ts'
import { openMail, type WaitingMails } from '../pushes/sealed-mails.ts'
import type { Store } from '../store/contract.ts'
import type { DueMessage } from '../store/notices-contract.ts'
import type { Channel } from './deliveries.ts'
import { type MailText, writeAccountLink, writeEvent, writeLinkMail, writeTest } from './mail-texts.ts'
import type { Mailer } from './mailer.ts'
import { messageIdOf, parseEvent } from './webhooks.ts'

/** URLs of pages of this server. */
type MailLinks = {
  home: string
  secret: (of: { push: Push; urlToken: string }) => string
  welcome: (token: string) => string
  /** The URL of the owner's list of pushes; `fresh`: the URL of its tab with new pushes. */
  list: string
  fresh: string
}

/** The events after which a push is under the tab with new pushes. */
const MAKES_NEW: ReadonlySet<EventType> = new Set([
  'push.used_up',
  'push.expired_unopened',
  'request.answered',
])

type MailChannelOptions = {
  mailer: Mailer
  store: Pick<Store, 'accountLinks' | 'accounts'>
  preferences: Pick<AccountPreferences, 'findMailWishes'>
  limit: MailLimit
  limitTests: TestLimit
  findToMail: (urlToken: string) => Promise<Push | null>
  keyring: Keyring
  links: MailLinks
  nameOfInstance: () => string
}

/** A mail that is ready; `over`: its reason no longer holds. */
type WrittenMail = (MailText & { to: string }) | 'over' | 'damaged' | 'limited'

export function createMailChannel(options: MailChannelOptions) {
  const { mailer, store, preferences, limit, limitTests, findToMail, keyring, links, nameOfInstance } =
    options
  const writing = (language: Language) => ({ language, name: nameOfInstance(), home: links.home })

  async function deliver(message: DueMessage, stopped: AbortSignal): Promise<DeliveryError | null> {
    const written = await write(message)
    if (written === 'over') return null
    return typeof written === 'string'
      ? written
      : mailer.send({ ...written, id: messageIdOf(message, keyring) }, stopped)
  }

  async function write(message: DueMessage): Promise<WrittenMail> {
    const { kind, accountId, body } = message
    if (accountId === null) return 'damaged'
    if (kind === 'event_mail') return writeEventMail(message, accountId)
    const place = { keyring, accountId }
    if (kind === 'link_mail') return writeLink(openMail(body, { ...place, field: 'link_mail' }))
    return writeOneTimeLink(openMail(body, { ...place, field: 'account_mail' }))
  }

  async function writeLink(waiting: WaitingMails['link_mail'] | null): Promise<WrittenMail> {
    if (waiting === null) return 'damaged'
    const { to, language, urlToken, sender } = waiting
    const push = await findToMail(urlToken)
    if (push === null) return 'over'
    const { expiresAt, passphraseRequired } = push
    const link = links.secret({ push, urlToken })
    const facts = { link, sender, views: viewsRemaining(push), expiresAt, passphraseRequired }
    return { to, ...writeLinkMail(facts, writing(language)) }
  }

  /**
   * Writes the mail about an event. The result is `over` for an account that no longer wants it, or is
   * disabled.
   */
  async function writeEventMail(message: DueMessage, accountId: number): Promise<WrittenMail> {
    const account = await store.accounts.findById(accountId)
    if (account === null || account.disabledAt !== null) return 'over'
    const { events, language } = await preferences.findMailWishes(account)
    const { type, at } = parseEvent(message.body)
    if (!events.includes(type)) return 'over'
    if (!(await limit.takeEvent(account))) return 'limited'
    const list = MAKES_NEW.has(type) ? links.fresh : links.list
    return { to: account.email, ...writeEvent({ type, at, list }, writing(language)) }
  }

  /** Resolves to null when the mail server has accepted the mail. Throws `too_many` and `too_many_mails`. */
  async function sendTest(
    { account, visit }: { account: Account; visit: Visit },
    language: Language,
  ): Promise<DeliveryError | null> {
    const { id, email } = account
    await limitTests(id)
    return limit.take({ account, address: visit.ip, recipients: [email] }, () =>
      mailer.send({ to: email, ...writeTest(writing(language)), id: newRandomToken() }),
    )
  }

  async function writeOneTimeLink(waiting: WaitingMails['account_mail'] | null): Promise<WrittenMail> {
    if (waiting === null) return 'damaged'
    const { to, language, purpose, token } = waiting
    const live = await store.accountLinks.findLink(hashToken(token))
    if (live === null) return 'over'
    const facts = { purpose, link: links.welcome(token), expiresAt: live.expiresAt }
    return { to, ...writeAccountLink(facts, writing(language)) }
  }

  const channel: Channel = { kinds: ['link_mail', 'account_mail', 'event_mail'], deliver }
  return { channel, sendTest }
}
