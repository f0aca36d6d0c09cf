// Sends the mails that wait in the outbox. Looks first whether what they tell of still holds, and reads the rest of their texts only
// then.

import { openAccountMail } from '../accounts/account-mails.ts'
import { hmac } from '../crypto/digest.ts'
import type { Keyring } from '../crypto/keyring.ts'
import { hashToken } from '../crypto/tokens.ts'
import type { Language } from '../domain/language.ts'
import { type Push, viewsRemaining } from '../domain/push.ts'
import { openLinkMail } from '../pushes/link-mails.ts'
import type { Store } from '../store/face.ts'
import type { DueMessage, Tried } from '../store/notices-face.ts'
import type { Channel } from './deliveries.ts'
import { type MailText, writeInvitation, writeLinkMail, writeReset } from './mail-texts.ts'
import type { Mailer } from './mailer.ts'

/** Addresses of pages of this server. */
export type MailLinks = {
  home: string
  secret: (of: { push: Push; urlToken: string }) => string
  welcome: (token: string) => string
}

export type MailChannelOptions = {
  mailer: Mailer
  store: Pick<Store, 'accountLinks'>
  findToMail: (urlToken: string) => Promise<Push | null>
  keyring: Keyring
  links: MailLinks
  nameOfInstance: () => string
}

/** A mail that is ready; `over`: there is nothing to tell any more. */
type Written = (MailText & { to: string }) | 'over' | 'damaged'

export function createMailChannel(options: MailChannelOptions): Channel {
  const { mailer, store, findToMail, keyring, links, nameOfInstance } = options
  const writing = (language: Language) => ({ language, name: nameOfInstance(), home: links.home })

  async function deliver(message: DueMessage): Promise<Tried> {
    const written = await write(message)
    if (written === 'over') return { error: null }
    if (written === 'damaged') return { error: 'damaged', forAll: false }
    const error = await mailer.send({ ...written, id: idOf(message) })
    // What the server says of one mail does not hold for others.
    return error === null ? { error } : { error, forAll: error !== 'refused' && error !== 'receiver_failed' }
  }

  async function write(message: DueMessage): Promise<Written> {
    const { kind, accountId, body } = message
    if (accountId === null) return 'damaged'
    if (kind === 'link_mail') return writeLink(openLinkMail(body, { keyring, accountId }))
    return writeAccountLink(openAccountMail(body, { keyring, accountId }))
  }

  async function writeLink(waiting: ReturnType<typeof openLinkMail>): Promise<Written> {
    if (waiting === null) return 'damaged'
    const { to, language, urlToken, sender } = waiting
    const push = await findToMail(urlToken)
    if (push === null) return 'over'
    const { expiresAt, passphraseRequired } = push
    const link = links.secret({ push, urlToken })
    const facts = { link, sender, views: viewsRemaining(push), expiresAt, passphraseRequired }
    return { to, ...writeLinkMail(facts, writing(language)) }
  }

  async function writeAccountLink(waiting: ReturnType<typeof openAccountMail>): Promise<Written> {
    if (waiting === null) return 'damaged'
    const { to, language, purpose, token } = waiting
    const live = await store.accountLinks.findLink(hashToken(token))
    if (live === null) return 'over'
    const compose = purpose === 'invite' ? writeInvitation : writeReset
    return { to, ...compose({ link: links.welcome(token), expiresAt: live.expiresAt }, writing(language)) }
  }

  /** The same at each try, and nothing that an outsider could guess. */
  const idOf = ({ id, at }: DueMessage) =>
    hmac(keyring.sealing.notices, `mail/${id}/${at}`).toString('hex').slice(0, 32)

  return { kinds: ['link_mail', 'account_mail'], deliver }
}
