// Rules of accounts, their links, sessions and API tokens. They need no storage.

import { hasMoreBytes, hasMoreCharacters } from '../text/text-length.ts'
import { DomainError } from './errors.ts'
import type { Problem, Problems } from './problems.ts'
import { DAY, MINUTE } from './time.ts'

/** RFC 5321 limits a path to 256 characters, brackets included. */
const MAX_EMAIL_LENGTH = 254
export const MIN_PASSWORD_LENGTH = 12
/**
 * The lowest accepted score of a password, on a scale from 0 to 4. A password that scores less can be guessed
 * with fewer than 100 million tries.
 */
export const LEAST_PASSWORD_SCORE = 3
const MAX_PASSWORD_BYTES = 1024
export const MAX_TOKEN_NAME_LENGTH = 100

export type Account = {
  id: number
  email: string
  isAdmin: boolean
  /** Whether the account needs more than the password to sign in: an authenticator app or a passkey. */
  hasTwoFactor: boolean
  hasAuthenticator: boolean
  /** The number of its passkeys. */
  passkeys: number
  /** Milliseconds since 1970, null while the account may sign in. */
  disabledAt: number | null
  createdAt: number
  /** How many times a reset link has set a new password. */
  resets: number
  /** If false, the owner signs in only through a provider or a proxy. */
  hasPassword: boolean
  /** Whether its API tokens never pause. */
  isService: boolean
}

/** Stored instead of a password hash for an account without a password. No hash equals it. */
export const NO_PASSWORD = '!'

/**
 * A sign-in by another party than this server: an OpenID provider, or a proxy that names the person in a
 * header.
 */
export type SignInVia = 'oidc' | 'header'

export const SIGN_IN_WAYS = ['password', 'oidc', 'header', 'passkey'] as const

export type SignInWay = (typeof SIGN_IN_WAYS)[number]

/** The number of accounts on one page of the administration. */
export const PEOPLE_PAGE_SIZE = 25

/** An account as administrators see it; `lastSignInAt` is null if it has never signed in. */
export type ListedAccount = Account & { lastSignInAt: number | null }

/** setup creates the first administrator, invite another account; reset sets an account's password. */
export type AccountLinkPurpose = 'setup' | 'invite' | 'reset'

export type AccountLink = {
  id: number
  purpose: AccountLinkPurpose
  /** The account that a reset is for; null for other purposes. */
  accountId: number | null
  /** The address that the account gets; null when the person who opens the link chooses it. */
  email: string | null
  isAdmin: boolean
  /** Whether a reset also turns off the second factor. */
  endsTwoFactor: boolean
  /** The administrator who created it; null for a setup link. */
  createdBy: number | null
  createdAt: number
  expiresAt: number
}

/** A signed-in browser. */
export type Session = {
  id: number
  createdAt: number
  lastSeenAt: number
  ip: string
  userAgent: string
  /** When the password (and code, with a second factor) was last confirmed in this session; 0 for never. */
  confirmedAt: number
  /** How the session began; null for a password. */
  via: SignInVia | null
  /** The person at the provider; null if there is none. */
  issuer: string | null
  subject: string | null
  /** The session at the provider; null if the provider names none. */
  sid: string | null
  /** Whether the provider asked for a second factor. */
  isMultiFactor: boolean
  /** The latest end of the session; null for the usual lifetime. */
  endsAt: number | null
}

/** A session ends after this time without a request. */
export const SESSION_IDLE = 7 * DAY
/** A session ends after this time in any case. */
export const SESSION_LIFETIME = 30 * DAY

/**
 * Whether a session has ended. One that was created more than a day in the future counts as ended: it was
 * made while the clock was ahead, and would last too long.
 */
export function isSessionEnded(
  { createdAt, lastSeenAt, endsAt }: Pick<Session, 'createdAt' | 'lastSeenAt' | 'endsAt'>,
  now: number,
): boolean {
  if (endsAt !== null && now >= endsAt) return true
  return createdAt > now + DAY || now >= Math.min(lastSeenAt + SESSION_IDLE, createdAt + SESSION_LIFETIME)
}

/** Sensitive actions ask for the password again when the last confirmation is older. */
export const CONFIRMATION_LIFETIME = 10 * MINUTE

/** Signing in beyond this number ends the session that was idle for longest. */
export const MAX_SESSIONS = 50

/** How long before the API tokens of an account pause its owner and the administrators get an event. */
export const PAUSE_TOLD_BEFORE = 14 * DAY

type PausingAccount = Pick<Account, 'hasPassword' | 'isService' | 'createdAt'> & { lastSignInAt: number }

/**
 * Returns when the API tokens of an account without a password pause, because a provider may have removed the
 * person; null for never. `after`: milliseconds without a sign-in; 0 is never.
 */
export function tokensPauseAt(account: PausingAccount, after: number): number | null {
  const { hasPassword, isService, createdAt, lastSignInAt } = account
  return after === 0 || hasPassword || isService ? null : Math.max(lastSignInAt, createdAt) + after
}

export const MAX_API_TOKENS = 100

/** How long each kind of link is valid. */
export const ACCOUNT_LINK_LIFETIME: Record<AccountLinkPurpose, number> = {
  setup: DAY,
  invite: 7 * DAY,
  reset: DAY,
}

export type ApiToken = {
  id: number
  name: string
  /** The first characters of the token, which identify it in lists; '' for an imported one. */
  prefix: string
  createdAt: number
  lastUsedAt: number | null
}

/**
 * Throws `invalid` when an account with the tokens `others` has the most that are allowed, and `conflict`
 * when one of them has this name.
 */
export function requireTokenRoom(others: readonly Pick<ApiToken, 'name'>[], name: string): void {
  if (others.length >= MAX_API_TOKENS)
    throw new DomainError('invalid', `An account has at most ${MAX_API_TOKENS} API tokens.`, {
      problems: { name: [{ code: 'too_many_tokens', limit: MAX_API_TOKENS }] },
    })
  if (others.some((other) => other.name === name))
    throw new DomainError('conflict', `This account has an API token named "${name}" already.`)
}

/** Excludes invisible characters, such as a zero-width space, which would make two accounts look the same. */
const ADDRESS = /^[^\s@\p{Cc}\p{DI}]+@[^\s@\p{Cc}\p{DI}]+$/u

/**
 * Trims and lower-cases an address. Returns null when the text cannot be one. Lenient, because no mail is
 * sent to it.
 */
export function parseEmail(text: string): string | null {
  if (text.length > 2 * MAX_EMAIL_LENGTH) return null
  const email = text.trim().toLowerCase()
  return email.length <= MAX_EMAIL_LENGTH && ADDRESS.test(email) ? email : null
}

/** Returns whether the domain of an address is listed; an empty list allows every domain. */
export function isSignupAddress(email: string, domains: readonly string[]): boolean {
  return (
    domains.length === 0 ||
    domains.includes(
      email
        .slice(email.lastIndexOf('@') + 1)
        .trim()
        .toLowerCase(),
    )
  )
}

/** The problem with a new password, or null. The minimum counts characters, not bytes. */
export function passwordProblem(password: string): Problem | null {
  if (hasMoreBytes(password, MAX_PASSWORD_BYTES)) return { code: 'too_long_bytes', limit: MAX_PASSWORD_BYTES }
  const isShort = [...password].length < MIN_PASSWORD_LENGTH
  return isShort ? { code: 'too_short', limit: MIN_PASSWORD_LENGTH } : null
}

/** Returns the problems with a new account's fields. Does not check whether the address is taken. */
export function newAccountProblems({ email, password }: { email: string; password: string }): Problems {
  const problem = passwordProblem(password)
  return {
    ...(parseEmail(email) === null ? { email: [{ code: 'not_email' as const }] } : {}),
    ...(problem === null ? {} : { password: [problem] }),
  }
}

/** The problem with the name of an API token, or null. */
export function tokenNameProblem(name: string): Problem | null {
  if (hasMoreCharacters(name, MAX_TOKEN_NAME_LENGTH))
    return { code: 'too_long_characters', limit: MAX_TOKEN_NAME_LENGTH }
  if (name.trim() === '') return { code: 'blank' }
  return /\p{Cc}/u.test(name) ? { code: 'control_characters' } : null
}
