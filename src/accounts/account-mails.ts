// Mails with a one-time link, as they wait to be sent: sealed, because whoever reads the link can use it.

import type { Keyring } from '../crypto/keyring.ts'
import { openJson, sealJson } from '../crypto/sealed-field.ts'
import type { AccountLinkPurpose } from '../domain/account.ts'
import type { Language } from '../domain/language.ts'

/** What a mail with a one-time link needs. */
export type WaitingAccountLink = {
  to: string
  language: Language
  purpose: Exclude<AccountLinkPurpose, 'setup'>
  token: string
}

type Place = { keyring: Keyring; accountId: number }

/** `accountId`: who is held to how much mail, and takes it along when removed. */
export function sealAccountMail(waiting: WaitingAccountLink, { keyring, accountId }: Place) {
  return { accountId, body: sealJson(waiting, keyring, placeOf(accountId)) }
}

/** Null when it was altered, or belongs to another account. */
export function openAccountMail(body: string, { keyring, accountId }: Place): WaitingAccountLink | null {
  return openJson<WaitingAccountLink>(body, keyring, placeOf(accountId))
}

function placeOf(accountId: number) {
  return { subkey: 'owner', subject: Buffer.from(`account/${accountId}`), field: 'account_mail' } as const
}
