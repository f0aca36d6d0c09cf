// Sign-in with a password and, if the account has one, a second factor; and the resulting sessions.

import type { Keyring } from '../crypto/keyring.ts'
import { openForAccount } from '../crypto/sealed-field.ts'
import { formTokenOf, hashRecoveryCode, hashToken, isSameSecret, newRandomToken } from '../crypto/tokens.ts'
import { checkTotp } from '../crypto/totp.ts'
import { type Account, CONFIRMATION_LIFETIME, parseEmail, type Session } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { DamageError, rethrowWithoutDoubt } from '../domain/errors.ts'
import { MINUTE, type Now } from '../domain/time.ts'
import type { InLine } from '../pushes/waiting-line.ts'
import type { Credentials, SessionOrigin } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import { isBcrypt, type Passwords } from './passwords.ts'
import type { SignInLimit } from './sign-in-limit.ts'
import { createTicket } from './ticket.ts'

/** The token goes into a cookie, and is not stored. */
export type NewSession = { account: Account; sessionToken: string }

/** The result of a sign-in that has ended. */
type SignInEnd = ({ outcome: 'signed_in' } & NewSession) | { outcome: 'refused' }

export type SignIn =
  | SignInEnd
  /** The password is right. The form must send `pending` together with the code. */
  | { outcome: 'code_needed'; pending: string }

type PasswordAttempt = { password: string; visit: Visit }

export type CurrentSession = {
  account: Account
  session: Session
  /** The CSRF token that every form of this session contains. */
  formToken: string
  isFormToken(given: string): boolean
}

export type Sessions = ReturnType<typeof createSessions>

type SessionsOptions = {
  store: Pick<Store, 'accounts' | 'sessions' | 'twoFactor' | 'identities' | 'damage'>
  keyring: Keyring
  passwords: Passwords
  /** Limits how many slow hashes run at once. */
  inLine: InLine
  limit: SignInLimit
  /** Whether this account may sign in with its password. */
  allowsPassword: (account: Pick<Account, 'email' | 'isAdmin'>) => boolean
  /** Called after each sign-in with a password. */
  onPasswordSignIn: (account: Account) => void
  now: Now
  /** The system's clock, which authenticator apps use too. The app's clock can be ahead of it. */
  systemNow: Now
}

/** A sign-in that waits for its code. `proof` binds it to password and second factor. */
type PendingSignIn = {
  accountId: number
  email: string
  proof: string
  by: SignedInBy | null
  factors: Pick<Account, 'passkeys' | 'hasAuthenticator'>
}

type PendingEntry = { pending: PendingSignIn; visit: Visit }
type Proof = (found: Credentials) => Promise<boolean>

/**
 * Authentication by a provider or a proxy instead of a password, and its time. `links`: set if the sign-in
 * also links the person to the account, with `isAdmin` as the provider's groups decide; null for a person
 * who is linked.
 */
type SignedInBy = { origin: SessionOrigin; at: number; links: { isAdmin: boolean | null } | null }

export function createSessions(options: SessionsOptions) {
  const { store, keyring, inLine, limit, now, systemNow } = options
  const { requireGoodPassword, hashPassword, verifyPassword } = options.passwords
  const lifetime = 10 * MINUTE
  const waiting = createTicket<PendingSignIn>({ keyring, now, lifetime, field: 'pending sign-in' })

  /** Throws `too_many` after too many wrong passwords. */
  function signIn(input: PasswordAttempt & { email: string }): Promise<SignIn> {
    return limit.tryPassword(
      { email: input.email, address: input.visit.ip },
      { work: () => trySignIn(input), isRight: ({ outcome }) => outcome !== 'refused' },
    )
  }

  /** Takes equally long for an address without an account and for a wrong password. */
  async function trySignIn(input: PasswordAttempt & { email: string }): Promise<SignIn> {
    const email = parseEmail(input.email)
    const found = email === null ? null : await store.accounts.findCredentials(email)
    const isRight = await inLine(input.visit.ip, () =>
      verifyPassword(input.password, found?.passwordHash ?? null),
    )
    if (found === null || !isRight || !mayEnter(found.account)) return { outcome: 'refused' }
    if (isBcrypt(found.passwordHash)) {
      await rehash(found, input)
      // Reads the account again, because another sign-in may have rehashed it first.
      return trySignIn(input)
    }
    return found.account.hasTwoFactor ? askCode(found, null) : begin(found, input.visit)
  }

  const mayEnter = (account: Account) => account.disabledAt === null && options.allowsPassword(account)

  function askCode(found: Credentials, by: SignedInBy | null): SignIn {
    const { id: accountId, email } = found.account
    const { passkeys, hasAuthenticator } = found.account
    const factors = { passkeys, hasAuthenticator }
    const pending = waiting.seal({ accountId, email, proof: proofOf(found), by, factors })
    return { outcome: 'code_needed', pending }
  }

  /** Signs in a person whom a provider or a proxy has authenticated, after the code of a second factor. */
  async function signInBy(
    found: Credentials,
    { visit, ...by }: Partial<SignedInBy> & { origin: SessionOrigin; visit: Visit },
  ): Promise<SignIn> {
    if (found.account.disabledAt !== null) return { outcome: 'refused' }
    const signedInBy = { links: null, at: now(), ...by }
    return found.account.hasTwoFactor ? askCode(found, signedInBy) : beginBy(found, signedInBy, visit)
  }

  /**
   * Links a person at a provider to the account of this address, if the password is its own, and signs in.
   * Throws `too_many`, and `conflict` when the person is another account.
   */
  async function signInByLink(
    input: PasswordAttempt & { email: string; isAdmin: boolean | null } & Omit<SignedInBy, 'links'>,
  ): Promise<SignIn> {
    const { email, origin, at, isAdmin, visit } = input
    const account = await store.accounts.findAccount(email)
    const tested = account === null ? null : await testPassword(account, input)
    const found = tested === null ? null : await store.accounts.findCredentials(email)
    if (found === null || found.passwordHash !== tested) return { outcome: 'refused' }
    return signInBy(found, { origin, at, links: { isAdmin }, visit })
  }

  async function beginBy(found: Credentials, by: SignedInBy, visit: Visit): Promise<SignIn> {
    const { origin, links, at } = by
    const { id } = found.account
    const { issuer, subject, sid } = origin
    if (issuer !== null && subject !== null) {
      // The provider may have signed the person out while the server waited for a password or code.
      if (await store.identities.isEnded({ issuer, subject, sid }, at)) return { outcome: 'refused' }
      if (links !== null)
        await store.identities.bind({ accountId: id, tested: found.passwordHash, issuer, subject })
      // The link may have been removed while the server waited for the code.
      else if ((await store.identities.findCredentials({ issuer, subject }))?.account.id !== id)
        return { outcome: 'refused' }
    }
    const isAdmin = links?.isAdmin ?? null
    if (isAdmin !== null && isAdmin !== found.account.isAdmin)
      await store.identities.setAdmin({ id, isAdmin })
    return begin(found, visit, origin)
  }

  /** Replaces the hash of an imported account by argon2id as soon as its password is known. */
  async function rehash(
    { account: { id }, passwordHash: tested }: Credentials,
    given: PasswordAttempt,
  ): Promise<void> {
    const passwordHash = await inLine(given.visit.ip, () => hashPassword(given.password))
    await store.accounts.rehashPassword({ id, tested, passwordHash })
  }

  /**
   * `code`: from the authenticator app, or a recovery code. Each works once. Throws `too_many` after too many
   * wrong codes.
   */
  function confirmSignIn({ code, ...input }: PendingEntry & { code: string }): Promise<SignIn> {
    return limit.tryCode(input.pending.accountId, {
      work: () => confirmSignInBy(input, (found) => isCodeRight(found, code)),
      isRight: ({ outcome }) => outcome === 'signed_in',
    })
  }

  /** Completes a sign-in once `isProven` has checked the second factor. */
  async function confirmSignInBy({ pending, visit }: PendingEntry, isProven: Proof): Promise<SignIn> {
    const found = await store.accounts.findCredentials(pending.email)
    // Refuse if the password or the second factor has changed since the password was checked.
    const isSame = found !== null && isSameSecret(proofOf(found), pending.proof)
    if (!isSame || found.account.disabledAt !== null) return { outcome: 'refused' }
    if (!(await isProven(found))) return { outcome: 'refused' }
    const { by } = pending
    return by === null ? begin(found, visit) : beginBy(found, by, visit)
  }

  async function isCodeRight({ account, totpSecret, totpStep }: Credentials, code: string): Promise<boolean> {
    if (!account.hasTwoFactor) return false
    const accountId = account.id
    const secret = totpSecret && openForAccount(totpSecret, { accountId, field: 'totp', keyring })
    if (secret === null && totpSecret !== null)
      store.damage.report(new DamageError(`the second factor of account ${accountId}`))
    const step = secret === null ? null : checkTotp({ secret, code, now: systemNow(), lastStep: totpStep })
    if (step !== null) return store.twoFactor.useStep({ accountId, step })
    return store.twoFactor.useRecoveryCode({ accountId, hash: hashRecoveryCode(code) })
  }

  async function begin(
    { account, passwordHash }: Credentials,
    visit: Visit,
    origin: SessionOrigin | null = null,
  ): Promise<SignInEnd> {
    const sessionToken = newRandomToken()
    const hash = hashToken(sessionToken)
    // If the database began the session despite the error, nobody has its token.
    await store.sessions
      .addSession({ accountId: account.id, hash, visit, tested: passwordHash, origin })
      .catch(rethrowWithoutDoubt)
    if (origin === null) options.onPasswordSignIn(account)
    return { outcome: 'signed_in', account, sessionToken }
  }

  /**
   * Begins a session for a new account, or after a reset link set a password. Refuses an account that has a
   * second factor or may not sign in with a password.
   */
  async function beginFor(account: Account, visit: Visit): Promise<SignIn> {
    const found = await store.accounts.findCredentials(account.email)
    const isOpen = found !== null && !found.account.hasTwoFactor && mayEnter(found.account)
    return isOpen ? begin(found, visit) : { outcome: 'refused' }
  }

  /** Signs in the owner of a passkey that was verified. */
  async function beginByPasskey(found: Credentials, visit: Visit): Promise<SignInEnd> {
    if (found.account.disabledAt !== null) return { outcome: 'refused' }
    return begin(found, visit)
  }

  /**
   * Resolves to null for an unknown token. Records the use, which keeps the session alive, unless `isUse` is
   * false.
   */
  async function findSession(
    sessionToken: string,
    { isUse, onError }: { isUse: boolean; onError: (cause: unknown) => void },
  ): Promise<CurrentSession | null> {
    const found = await store.sessions.findByHash(hashToken(sessionToken))
    if (found === null) return null
    if (isUse) store.sessions.noteUse(found.session).catch(onError)
    const formToken = formTokenOf(sessionToken)
    return { ...found, formToken, isFormToken: (given) => isSameSecret(given, formToken) }
  }

  /**
   * Changes the password, and ends every other session; with `revoke`, also removes what was created with the
   * old password. Resolves to false if `current` is wrong. Throws `invalid` for a bad new password.
   */
  async function changePassword(
    { account, session }: Pick<CurrentSession, 'account' | 'session'>,
    { current, next, revoke, visit }: { current: string; next: string; revoke: boolean; visit: Visit },
  ): Promise<boolean> {
    await requireGoodPassword(next, account.email)
    if ((await testPassword(account, { password: current, visit })) === null) return false
    const passwordHash = await inLine(visit.ip, () => hashPassword(next))
    await store.accounts.setPasswordHash({ id: account.id, passwordHash, keepSession: session.id, revoke })
    return true
  }

  /**
   * Resolves to the hash that the password was tested against, for `confirm`; null if the password is wrong.
   * Throws `too_many` after too many wrong ones.
   */
  function testPassword({ email }: Account, { password, visit }: PasswordAttempt): Promise<string | null> {
    const work = async () => {
      const hash = (await store.accounts.findCredentials(email))?.passwordHash ?? null
      return (await inLine(visit.ip, () => verifyPassword(password, hash))) ? hash : null
    }
    return limit.tryPassword({ email, address: visit.ip }, { work, isRight: (hash) => hash !== null })
  }

  /** Whether the code, or recovery code, is right. Each is accepted once. Throws `too_many`. */
  function isCode({ id, email }: Account, code: string): Promise<boolean> {
    const work = async () => {
      const found = await store.accounts.findCredentials(email)
      return found !== null && isCodeRight(found, code)
    }
    return limit.tryCode(id, { work, isRight: Boolean })
  }

  /**
   * Confirms a session by a code alone, for an account that has no password to ask for. Resolves to false for
   * a wrong code. Throws `too_many`.
   */
  async function confirmByCode(
    { account, session }: Pick<CurrentSession, 'account' | 'session'>,
    code: string,
  ): Promise<boolean> {
    return (await isCode(account, code)) && store.identities.confirmSession(session.id)
  }

  function isRecent(at: number): boolean {
    const age = now() - at
    return age >= 0 && age < CONFIRMATION_LIFETIME
  }

  /** Whether the password (and with a second factor the code) was confirmed recently in this session. */
  const isConfirmed = ({ confirmedAt }: Session): boolean => isRecent(confirmedAt)

  /** Whether the session began within the time that a confirmation lasts. */
  const isNew = ({ createdAt }: Session): boolean => isRecent(createdAt)

  return {
    signIn,
    isNew,
    signInBy,
    signInByLink,
    allowsPassword: options.allowsPassword,
    /** Returns the pending sign-in, if its password was checked within the last 10 minutes; else null. */
    readPending: waiting.open,
    confirmSignIn,
    confirmSignInBy,
    beginFor,
    beginByPasskey,
    findSession,
    changePassword,
    isPassword: async (account: Account, given: PasswordAttempt): Promise<boolean> =>
      (await testPassword(account, given)) !== null,
    testPassword,
    isCode,
    confirmByCode,
    isConfirmed,
    /** Resolves to false if the session has ended or the password has changed since the test. */
    confirm: ({ id }: Session, tested: string): Promise<boolean> =>
      store.sessions.confirmSession({ id, tested }),
    listSessions: (account: Account): Promise<Session[]> => store.sessions.listSessions(account.id),
    endSession: ({ id: accountId }: Account, id: number) => store.sessions.removeSession({ accountId, id }),
    endOtherSessions: ({ id: accountId }: Account, { id }: Session) =>
      store.sessions.removeOtherSessions({ accountId, id }),
  }
}

/** Returns a digest that changes with the password and the second factor, and reveals neither. */
function proofOf({ account, passwordHash, totpSecret }: Credentials): string {
  const parts = [account.id, passwordHash, totpSecret?.toHex() ?? '', account.passkeys]
  return hashToken(parts.join(' ')).toString('base64url')
}
