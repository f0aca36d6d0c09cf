// Decides what an account of another server becomes here.

import { isBcrypt } from '../accounts/passwords.ts'
import { NO_PASSWORD, parseEmail } from '../domain/account.ts'
import { type Language, languageOf } from '../domain/language.ts'
import type { IncomingAccount } from './incoming.ts'

export type PlannedAccount = {
  email: string
  passwordHash: string
  isAdmin: boolean
  isDisabled: boolean
  totp: { secret: string; lastStep: number | null } | null
  /** The token to import; null without a usable one. */
  apiToken: string | null
  /** The account's language; null if it has none that is supported. */
  language: Language | null
  createdAt: number
  notes: string[]
}

/**
 * The minimum length of a token, because shorter ones could be guessed; Password Pusher makes 20 characters.
 */
const MIN_TOKEN_CHARACTERS = 16

export function planAccount(incoming: IncomingAccount): PlannedAccount | { problem: string } {
  const email = parseEmail(incoming.email)
  if (email === null) return { problem: 'it has no e-mail address' }
  const notes: string[] = []
  const hasPassword = isBcrypt(incoming.passwordHash)
  if (!hasPassword) notes.push(`it has no password that can come: "oncebox user password ${email}" sets one`)
  const totp = totpOf(incoming)
  if (totp === 'sealed')
    notes.push(
      `its second factor opens with none of the keys, so it comes disabled: "oncebox user enable ${email}" lets it sign ` +
        'in with the password alone',
    )
  if (incoming.isStopped) notes.push('it was locked or never confirmed, and comes disabled')
  const apiToken = incoming.apiToken === '' ? null : incoming.apiToken
  const isShort = apiToken !== null && apiToken.length < MIN_TOKEN_CHARACTERS
  if (isShort) notes.push('its API token is too short and does not come')
  return {
    email,
    passwordHash: hasPassword ? incoming.passwordHash : NO_PASSWORD,
    isAdmin: incoming.isAdmin,
    isDisabled: incoming.isStopped || totp === 'sealed',
    totp: totp === 'sealed' ? null : totp,
    apiToken: isShort ? null : apiToken,
    language: languageOf(incoming.language),
    createdAt: incoming.createdAt,
    notes,
  }
}

/**
 * Returns a note if only one of the account here and the account with its address there is an administrator.
 */
export function differentRights(there: { isAdmin: boolean }, here: { isAdmin: boolean }): string[] {
  return here.isAdmin === there.isAdmin ? [] : [`here it is ${here.isAdmin ? 'an' : 'no'} administrator`]
}

function totpOf({ totp }: IncomingAccount): PlannedAccount['totp'] | 'sealed' {
  if (totp === null) return null
  const secret = totp.secret?.toUpperCase().replace(/(?<!=)=+$/, '') ?? ''
  return /^[A-Z2-7]{16,}$/.test(secret) ? { secret, lastStep: totp.lastStep } : 'sealed'
}
