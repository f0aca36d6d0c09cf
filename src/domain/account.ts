// An account and its API tokens: the rules that need no storage.

import type { Problem, Problems } from './problems.ts'
import { DAY, MINUTE } from './time.ts'

export const MIN_PASSWORD_LENGTH = 12
export const MAX_PASSWORD_BYTES = 1024
export const MAX_TOKEN_NAME_LENGTH = 100

export type Account = {
  id: number
  email: string
  isAdmin: boolean
  /** Whether signing in asks for a code as well. */
  hasTwoFactor: boolean
  /** Milliseconds since 1970, null while the account may sign in. */
  disabledAt: number | null
  createdAt: number
}

/** setup: the first administrator. invite: somebody new. reset: a new password for an account. */
export type AccountLinkPurpose = 'setup' | 'invite' | 'reset'

export type AccountLink = {
  id: number
  purpose: AccountLinkPurpose
  /** Of a reset. */
  accountId: number | null
  /** Whom it is for; null when whoever opens it says so. */
  email: string | null
  isAdmin: boolean
  /** Of a reset: whether it turns the second factor off as well. */
  endsTwoFactor: boolean
  /** The administrator who made it. */
  createdBy: number | null
  createdAt: number
  expiresAt: number
}

/** A browser that is signed in. */
export type Session = {
  id: number
  createdAt: number
  lastSeenAt: number
  ip: string
  userAgent: string
  /** When the password, and the code where there is a second factor, was last given in it; 0 for never. */
  confirmedAt: number
}

/** A session ends after so long without a request, and in any case after so long. */
export const SESSION_IDLE = 7 * DAY
export const SESSION_LIFETIME = 30 * DAY

/** What gives somebody power asks for the password again when it was given longer ago. */
export const CONFIRMATION_LIFETIME = 10 * MINUTE

/** More browsers than this sign out the one seen longest ago. */
export const MAX_SESSIONS = 50

export const MAX_API_TOKENS = 100

/** How long each kind of link may wait to be opened. */
export const ACCOUNT_LINK_LIFETIME: Record<AccountLinkPurpose, number> = {
  setup: DAY,
  invite: 7 * DAY,
  reset: DAY,
}

export type ApiToken = {
  id: number
  name: string
  /** The first characters of the token, to tell it from others. */
  prefix: string
  createdAt: number
  lastUsedAt: number | null
}

/** Lower-cases and trims; null when it cannot be an address. Deliberately mild: nobody sends mail to it. */
export function parseEmail(text: string): string | null {
  const email = text.trim().toLowerCase()
  return email.length <= 254 && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) ? email : null
}

/** What is wrong with a new password, or null. Length counts characters, as people do. */
export function passwordProblem(password: string): Problem | null {
  if ([...password].length < MIN_PASSWORD_LENGTH) return { code: 'too_short', limit: MIN_PASSWORD_LENGTH }
  const isLong = Buffer.byteLength(password) > MAX_PASSWORD_BYTES
  return isLong ? { code: 'too_long_bytes', limit: MAX_PASSWORD_BYTES } : null
}

/** What is wrong with a new account by itself, field by field; nothing is looked up. */
export function newAccountProblems({ email, password }: { email: string; password: string }): Problems {
  const problem = passwordProblem(password)
  return {
    ...(parseEmail(email) === null ? { email: [{ code: 'not_email' as const }] } : {}),
    ...(problem === null ? {} : { password: [problem] }),
  }
}

/** What is wrong with the name of an API token, or null. */
export function tokenNameProblem(name: string): Problem | null {
  if (name.trim() === '') return { code: 'blank' }
  if ([...name].length > MAX_TOKEN_NAME_LENGTH)
    return { code: 'too_long_characters', limit: MAX_TOKEN_NAME_LENGTH }
  return /\p{Cc}/u.test(name) ? { code: 'control_characters' } : null
}
