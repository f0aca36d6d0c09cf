// Mails with a link, as they wait to be sent: sealed, because whoever reads the link can use it.

import type { Keyring } from '../crypto/keyring.ts'
import { openForAccount, sealForAccount } from '../crypto/sealed-field.ts'
import type { Language } from '../domain/language.ts'

type Recipient = { to: string; language: Language }

/** What each kind of mail needs; what else it says is read when it is sent. */
export type WaitingMails = {
  /** `sender`: the address of the sender's account; null when that stays unsaid. */
  link_mail: Recipient & { urlToken: string; sender: string | null }
  /** A one-time link. */
  account_mail: Recipient & { purpose: 'invite' | 'reset'; token: string }
}

type Kind = keyof WaitingMails
/** `accountId`: who is held to how much mail, and takes it along when removed. */
type MailContext<K> = { field: K; accountId: number; keyring: Keyring }

export function sealMail<K extends Kind>(mail: WaitingMails[K], place: MailContext<K>): string {
  return sealForAccount(JSON.stringify(mail), place).toString('base64url')
}

/** Null as `openForAccount`. */
export function openMail<K extends Kind>(body: string, place: MailContext<K>): WaitingMails[K] | null {
  const opened = openForAccount(Buffer.from(body, 'base64url'), place)
  return opened && JSON.parse(opened)
}
