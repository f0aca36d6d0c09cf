// Mails with a link, as they wait to be sent: sealed, because whoever reads the link can use it.

import type { Keyring } from '../crypto/keyring.ts'
import { openJson, sealJson } from '../crypto/sealed-field.ts'
import type { Language } from '../domain/language.ts'

type To = { to: string; language: Language }

/** What each kind of mail needs; what else it says is read when it is sent. */
export type WaitingMails = {
  /** `sender`: the address of the sender's account; null when that stays unsaid. */
  link_mail: To & { urlToken: string; sender: string | null }
  /** A one-time link. */
  account_mail: To & { purpose: 'invite' | 'reset'; token: string }
}

type Kind = keyof WaitingMails
/** `accountId`: who is held to how much mail, and takes it along when removed. */
type Place = { keyring: Keyring; accountId: number }

export function sealMail<K extends Kind>(kind: K, mail: WaitingMails[K], place: Place): string {
  return sealJson(mail, place.keyring, placeOf(kind, place))
}

/** Null when it was altered, or belongs to another account. */
export function openMail<K extends Kind>(kind: K, body: string, place: Place): WaitingMails[K] | null {
  return openJson(body, place.keyring, placeOf(kind, place))
}

function placeOf(field: Kind, { accountId }: Place) {
  return { subkey: 'owner', subject: Buffer.from(`account/${accountId}`), field } as const
}
