// The records of accounts and sign-ins that services and the store exchange.

import type { Account, AccountLink, ListedAccount, Session, SignInVia } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import type { Language } from '../domain/language.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { Passkey } from '../domain/passkey.ts'
import type { PushChoices } from '../domain/push-choices.ts'

export type NewAccount = { email: string; passwordHash: string; isAdmin: boolean }

/**
 * A password hash with the second factor. `totpSecret` is sealed; `totpStep` is the time step of the last
 * used code.
 */
export type Credentials = {
  account: Account
  passwordHash: string
  totpSecret: Uint8Array | null
  totpStep: number | null
}

export type NewPassword = {
  id: number
  passwordHash: string
  /** The session that continues; all others end. */
  keepSession?: number | null
  /**
   * Whether to remove what may have been created with the old password: API tokens, links for other accounts,
   * and webhooks.
   */
  revoke?: boolean
}

/** `session` is the one that creates the token, which must not have ended; null for a command. */
export type ApiTokenToStore = {
  accountId: number
  name: string
  prefix: string
  hash: Buffer
  session: number | null
}

/** An account and the token it came with. */
export type Authenticated = {
  account: Account
  tokenId: number
  lastUsedAt: number | null
  /** The last sign-in of the account; 0 for never. */
  lastSignInAt: number
}

export type SignedIn = { account: Account; session: Session }

/**
 * `tested` is the hash that the password was checked against. If it has changed since, the sign-in is
 * refused.
 */
export type SessionToStore = {
  accountId: number
  hash: Buffer
  visit: Visit
  tested: string
  /** The provider or proxy that signed its owner in; absent or null for a password. */
  origin?: SessionOrigin | null
}

export type SessionOrigin = Pick<Session, 'issuer' | 'subject' | 'sid' | 'isMultiFactor'> & {
  via: SignInVia
  endsAt: number
}

/** A person at a provider. */
export type Identity = { issuer: string; subject: string }

/** The sessions that a logout at the provider ends: those of one provider session, or all of a person. */
export type ProviderLogout = {
  issuer: string
  sid: string | null
  subject: string | null
  /** The nonce of the logout token, which can be used once. */
  nonce: PageNonce
}

export type NewAccountLink = Omit<AccountLink, 'id' | 'createdAt' | 'expiresAt'> & {
  hash: Buffer
  /** The session that creates the link, which must not have ended; null for the server itself. */
  session: number | null
  /** A mail with the link, sealed, to be sent for this account; null for none. */
  mail: { accountId: number; body: string } | null
  /** The nonce of the page, used up in the same step; null if there is no page. */
  nonce?: PageNonce | null
}

/**
 * The use of a link. `email` is needed only if the link is for no particular address. `identity`: the person
 * at the provider who gets the account instead of a password; not possible with a reset link.
 */
export type AccountLinkUse = { hash: Buffer; email: string; passwordHash: string; identity?: Identity }

/** `step`: the time step of the code that proved the secret. */
export type NewTwoFactor = { accountId: number; sealedSecret: Buffer; step: number; recoveryHashes: Buffer[] }

/** `recoveryHashes` are stored if it is the first second factor. `session` must not have ended. */
export type NewPasskey = {
  accountId: number
  session: number
  credentialId: Uint8Array
  publicKey: Uint8Array
  counter: number
  rpId: string
  name: string
  recoveryHashes: Buffer[]
}

export type StoredPasskey = Passkey & { publicKey: Uint8Array; owner: Credentials }

/**
 * `beside`: the hash of the password that was just confirmed, after which the passkey may sign in by itself
 * again; null without a password.
 */
export type PasskeyUse = { id: number; accountId: number; counter: number; beside: string | null }

/**
 * `template` is null for the standard message. `recipient` is the age key for answers to requests; null
 * without one.
 */
export type Preferences = PushChoices & {
  template: string | null
  askTemplate: string | null
  recipient: string | null
  /** Types of events, with a comma before and after each. */
  mailEvents: string | null
  mailLanguage: Language | null
}

/** `total` counts the accounts of all pages. */
export type PageOfPeople = { people: ListedAccount[]; total: number }

/** The number of live pushes of an account, and the space that they use. */
export type Usage = { pushes: number; bytes: number }
