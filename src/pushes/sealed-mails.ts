// Mails with a link in the outbox: sealed, because their link gives access.

import type { Keyring } from '../crypto/keyring.ts'
import { openForAccount, sealForAccount } from '../crypto/sealed-field.ts'
import type { Language } from '../domain/language.ts'

type Recipient = { to: string; language: Language }

/** The content of each kind of mail; the rest is read when it is sent. */
export type WaitingMails = {
  /** `sender`: the address of the sender's account; null to withhold it. */
  link_mail: Recipient & { urlToken: string; sender: string | null }
  /** A mail with a one-time link. */
  account_mail: Recipient & { purpose: 'invite' | 'reset'; token: string }
}

type Kind = keyof WaitingMails
/** `accountId`: the account that the mail counts against. It is deleted with that account. */
type MailContext<K> = { field: K; accountId: number; keyring: Keyring }

export function sealMail<K extends Kind>(mail: WaitingMails[K], place: MailContext<K>): string {
  return sealForAccount(JSON.stringify(mail), place).toString('base64url')
}

/** Returns null like `openForAccount`. */
export function openMail<K extends Kind>(body: string, place: MailContext<K>): WaitingMails[K] | null {
  const opened = openForAccount(Buffer.from(body, 'base64url'), place)
  return opened && JSON.parse(opened)
}
