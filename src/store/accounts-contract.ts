// What a store promises about accounts and how people sign in. The promises at the head of contract.ts hold here
// too.

import type { Account, AccountLink, ApiToken, ListedAccount, Session } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import type { Language } from '../domain/language.ts'
import type { PageNonce } from '../domain/page-nonce.ts'
import type { PushChoices } from '../domain/push-choices.ts'

export type NewAccount = { email: string; passwordHash: string; isAdmin: boolean }

/** `totpSecret` is sealed; `totpStep` is the last step of time whose code was used. */
export type Credentials = {
  account: Account
  passwordHash: string
  totpSecret: Uint8Array | null
  totpStep: number | null
}

export type NewPassword = {
  id: number
  passwordHash: string
  /** The session to keep; every other one ends. */
  keepSession?: number | null
  /** Also removes what was made with the old password: API tokens, links for other accounts, and webhooks. */
  revoke?: boolean
}

export type AccountStore = {
  /** Throws `conflict` when the address has an account. */
  addAccount(account: NewAccount): Promise<Account>
  findAccount(email: string): Promise<Account | null>
  findById(id: number): Promise<Account | null>
  findCredentials(email: string): Promise<Credentials | null>
  listAccounts(): Promise<Account[]>
  /** Ends links for the account. Throws `unauthenticated` when `keepSession` has ended meanwhile. */
  setPasswordHash(password: NewPassword): Promise<void>
  /**
   * Replaces the hash of the same password: sessions, links and tokens stay. False when the password has
   * changed since `tested`.
   */
  rehashPassword(rehash: { id: number; tested: string; passwordHash: string }): Promise<boolean>
  /**
   * Disabling ends sessions, the links by and for the account, and messages that wait for its webhooks. With
   * `keepAdmin`, throws `conflict` for the last administrator.
   */
  setDisabled(change: { id: number; disabled: boolean; keepAdmin?: boolean }): Promise<void>
  /**
   * Ends the links that the account made as an administrator. Throws `conflict` for the last administrator.
   */
  setAdmin(change: { id: number; isAdmin: boolean }): Promise<void>
  /** Removes some pushes of an account and resolves to their number, 0 when none is left. */
  removePushesOf(id: number): Promise<number>
  /** The account must own no pushes any more. Its API tokens go with it. */
  removeAccount(id: number): Promise<void>
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
export type Authenticated = { account: Account; tokenId: number; lastUsedAt: number | null }

export type ApiTokenStore = {
  /**
   * Throws `invalid` above MAX_API_TOKENS, `conflict` for a name in use, `unauthenticated` when the session
   * has ended.
   */
  addApiToken(token: ApiTokenToStore): Promise<ApiToken>
  listApiTokens(accountId: number): Promise<ApiToken[]>
  /** Null for an unknown token and for a disabled account. */
  findByHash(hash: Uint8Array): Promise<Authenticated | null>
  /** Writes at most once a minute, and nothing while the clock is in doubt. */
  noteUse(token: Authenticated): Promise<void>
  removeApiToken(id: number): Promise<void>
}

export type SignedIn = { account: Account; session: Session }

/**
 * `tested` is the hash that the password was checked against. If it has changed since, the sign-in is
 * refused.
 */
export type SessionToStore = { accountId: number; hash: Buffer; visit: Visit; tested: string }

export type SessionStore = {
  /** Throws `unauthenticated` when the account is disabled or its password has changed. */
  addSession(session: SessionToStore): Promise<void>
  /** Null for a session that has ended, and for a disabled account. */
  findByHash(hash: Uint8Array): Promise<SignedIn | null>
  /** Writes at most once a minute. */
  noteUse(session: Session): Promise<void>
  /**
   * Notes that the password was given in this session. False when session or password has changed meanwhile.
   */
  confirmSession(session: { id: number; tested: string }): Promise<boolean>
  /** Latest seen first. */
  listSessions(accountId: number): Promise<Session[]>
  removeSession(session: { accountId: number; id: number }): Promise<void>
  /** Removes all but this one. */
  removeOtherSessions(session: { accountId: number; id: number }): Promise<void>
}

export type NewAccountLink = Omit<AccountLink, 'id' | 'createdAt' | 'expiresAt'> & {
  hash: Buffer
  /** The session that creates the link, which must not have ended; null for the server itself. */
  session: number | null
  /** A mail with the link, sealed, to be sent for this account; null for none. */
  mail: { accountId: number; body: string } | null
  /** Spent with the link; null without a page. */
  nonce?: PageNonce | null
}

/** `email` is used only when the link was made for no particular address. */
export type AccountLinkUse = { hash: Buffer; email: string; passwordHash: string }

export type AccountLinkStore = {
  /**
   * Replaces an older link for the same purpose and person; where several nodes serve, their setup links
   * stay. Throws `unauthenticated` when the session has ended, or its account is no administrator any more;
   * `conflict` when the nonce was spent before.
   */
  addLink(link: NewAccountLink): Promise<void>
  /** Null for a link that was used or has lapsed, and for a setup link once there is an administrator. */
  findLink(hash: Buffer): Promise<AccountLink | null>
  hasAdmin(): Promise<boolean>
  /** Makes the account or sets its password, and uses the link up. Throws `not_found` or `conflict`. */
  useLink(use: AccountLinkUse): Promise<Account>
  /** Invitations and resets that have not been used. */
  listLinks(): Promise<AccountLink[]>
  removeLink(id: number): Promise<void>
}

/** `step` is the time step of the code that proved the secret. */
export type NewTwoFactor = { accountId: number; sealedSecret: Buffer; step: number; recoveryHashes: Buffer[] }

export type TwoFactorStore = {
  /** False when the account has a second factor already. */
  set(factor: NewTwoFactor): Promise<boolean>
  remove(accountId: number): Promise<void>
  /** False when the code of this step, or of a later one, was used before. */
  useStep(use: { accountId: number; step: number }): Promise<boolean>
  /** False for an unknown or used code. Each works once. */
  useRecoveryCode(use: { accountId: number; hash: Buffer }): Promise<boolean>
  countRecoveryCodes(accountId: number): Promise<number>
}

/**
 * `template` is null for the standard message. `recipient`: of age, for answers to requests; null without
 * one.
 */
export type Preferences = PushChoices & {
  template: string | null
  recipient: string | null
  /** Types of events, with a comma before and after each. */
  mailEvents: string | null
  mailLanguage: Language | null
}

export type PreferenceStore = {
  /** Null for an account that has chosen nothing. */
  find(accountId: number): Promise<Preferences | null>
  /** Changes those that are given. Does nothing when the account was removed. */
  keep(changed: Partial<Preferences> & { accountId: number }): Promise<void>
}

/** `total` counts all pages. */
export type PageOfPeople = { people: ListedAccount[]; total: number }

/** The number of live pushes of an account, and the space that they use. */
export type Usage = { pushes: number; bytes: number }

export type PeopleStore = {
  /** Accounts whose address contains `search`, by address, 25 a page from page 1. */
  listPeople(asked: { search: string; pageNumber: number }): Promise<PageOfPeople>
  measureUsage(accountId: number): Promise<Usage>
  /** Administrators who may sign in with a password alone. */
  countUnprotectedAdmins(): Promise<number>
}
