// Signing in: a password, a second factor where the account has one, and the sessions that come of it.

import type { Keyring } from '../../crypto/keyring.ts'
import { openPending, type Pending, sealPending } from '../../crypto/pending-sign-in.ts'
import {
  formTokenOf,
  hashRandomToken,
  hashRecoveryCode,
  isSameText,
  newRandomToken,
} from '../../crypto/random-token.ts'
import { checkTotp } from '../../crypto/totp.ts'
import { type Account, CONFIRMATION_LIFETIME, parseEmail, type Session } from '../../domain/account.ts'
import type { Visit } from '../../domain/audit.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import type { Credentials } from '../../store/sqlite/accounts/accounts.ts'
import type { Store } from '../../store/store.ts'
import type { Lanes } from '../lanes.ts'
import { hashPassword, requireGoodPassword, verifyPassword } from './passwords.ts'
import { openTotpSecret } from './two-factor.ts'

/** The one time that the token of a session is seen: it goes into a cookie. */
export type NewSession = { account: Account; sessionToken: string }

export type SignIn =
  | ({ outcome: 'signed_in' } & NewSession)
  /** The password was right; `pending` comes back with the code. */
  | { outcome: 'code_needed'; pending: string }
  | { outcome: 'refused' }

export type CurrentSession = {
  account: Account
  session: Session
  /** What every form of this session carries. */
  formToken: string
  isFormToken(given: string): boolean
}

export type Sessions = ReturnType<typeof createSessions>

export type SessionsOptions = {
  store: Pick<Store, 'accounts' | 'sessions' | 'twoFactor'>
  keyring: Keyring
  /** Bounds the slow works of the process. */
  lanes: Lanes
  now: Now
  /** As phones have it: codes go by it, also while the clock of the app waits for it to catch up. */
  systemNow: Now
}

const PENDING_LIFETIME = 10 * MINUTE

export function createSessions({ store, keyring, lanes, now, systemNow }: SessionsOptions) {
  /** Takes as long for an address that has no account as for a wrong password. */
  async function signIn(input: { email: string; password: string; visit: Visit }): Promise<SignIn> {
    const email = parseEmail(input.email)
    const found = email === null ? null : store.accounts.findCredentials(email)
    const isRight = await lanes({ address: input.visit.ip, about: `account ${email}` }, () =>
      verifyPassword(input.password, found?.passwordHash ?? null),
    )
    if (found === null || !isRight || found.account.disabledAt !== null) return { outcome: 'refused' }
    if (found.totpSecret === null) return begin(found, input.visit)
    const { id: accountId, email: address } = found.account
    const until = now() + PENDING_LIFETIME
    const pending = { accountId, email: address, until, proof: proofOf(found) }
    return { outcome: 'code_needed', pending: sealPending(pending, keyring) }
  }

  /** Whose password was right a moment ago; null when that was too long ago, or never. */
  function readPending(text: string): Pending | null {
    const pending = openPending(text, keyring)
    return pending === null || now() >= pending.until ? null : pending
  }

  /** `code` is one of the authenticator app or a recovery code; each counts once. */
  async function confirmSignIn(input: { pending: Pending; code: string; visit: Visit }): Promise<SignIn> {
    const found = store.accounts.findCredentials(input.pending.email)
    // Neither password nor second factor may have changed since.
    const isSame = found !== null && isSameText(proofOf(found), input.pending.proof)
    if (!isSame || found.account.disabledAt !== null) return { outcome: 'refused' }
    return (await isCodeRight(found, input.code)) ? begin(found, input.visit) : { outcome: 'refused' }
  }

  async function isCodeRight({ account, totpSecret, totpStep }: Credentials, code: string): Promise<boolean> {
    if (totpSecret === null) return false
    const accountId = account.id
    const secret = openTotpSecret(totpSecret, { accountId, keyring })
    const step = secret === null ? null : checkTotp({ secret, code, now: systemNow(), lastStep: totpStep })
    if (step !== null) return store.twoFactor.useStep({ accountId, step })
    return store.twoFactor.useRecoveryCode({ accountId, hash: hashRecoveryCode(code) })
  }

  async function begin({ account, passwordHash }: Credentials, visit: Visit): Promise<SignIn> {
    const sessionToken = newRandomToken()
    const hash = hashRandomToken(sessionToken)
    await store.sessions.addSession({ accountId: account.id, hash, visit, tested: passwordHash })
    return { outcome: 'signed_in', account, sessionToken }
  }

  /** For an account that has just been made, or whose password has just been set by a link. */
  async function beginFor(account: Account, visit: Visit): Promise<SignIn> {
    const found = store.accounts.findCredentials(account.email)
    if (found === null || found.totpSecret !== null) return { outcome: 'refused' }
    return begin(found, visit)
  }

  /** Null for a token of no session. Notes the use. */
  function findSession(sessionToken: string, onError: (cause: unknown) => void): CurrentSession | null {
    const found = store.sessions.findByHash(hashRandomToken(sessionToken))
    if (found === null) return null
    store.sessions.noteUse(found.session).catch(onError)
    const formToken = formTokenOf(sessionToken)
    return { ...found, formToken, isFormToken: (given) => isSameText(given, formToken) }
  }

  /** Ends every other session, and with `revoke` what was made in them. False when `current` is not the password. Throws `invalid` for a bad new one. */
  async function changePassword(
    { account, session }: Pick<CurrentSession, 'account' | 'session'>,
    { current, next, revoke, visit }: { current: string; next: string; revoke: boolean; visit: Visit },
  ): Promise<boolean> {
    requireGoodPassword(next)
    const asker = { address: visit.ip, about: `account ${account.email}` }
    if ((await testPassword(account, { password: current, visit })) === null) return false
    const passwordHash = await lanes(asker, () => hashPassword(next))
    await store.accounts.setPasswordHash({ id: account.id, passwordHash, keepSession: session.id, revoke })
    return true
  }

  /** The hash that it was tested against, for `confirm`; null when it is not the password. */
  async function testPassword(
    { email }: Account,
    { password, visit }: { password: string; visit: Visit },
  ): Promise<string | null> {
    const hash = store.accounts.findCredentials(email)?.passwordHash ?? null
    const asker = { address: visit.ip, about: `account ${email}` }
    return (await lanes(asker, () => verifyPassword(password, hash))) ? hash : null
  }

  /** Of the authenticator app, or a recovery code; each counts once. */
  async function isCode({ email }: Account, code: string): Promise<boolean> {
    const found = store.accounts.findCredentials(email)
    return found !== null && isCodeRight(found, code)
  }

  /** Whether the password, and the code where there is one, was given in this session a moment ago. */
  function isConfirmed({ confirmedAt }: Session): boolean {
    const age = now() - confirmedAt
    return age >= 0 && age < CONFIRMATION_LIFETIME
  }

  /** Where somebody is signed in to the account. */
  function knownAddresses(email: string): string[] {
    const parsed = parseEmail(email)
    const id = parsed === null ? null : store.accounts.findId(parsed)
    return id === null ? [] : store.sessions.listSessions(id).map(({ ip }) => ip)
  }

  return {
    signIn,
    knownAddresses,
    readPending,
    confirmSignIn,
    beginFor,
    findSession,
    changePassword,
    isPassword: async (account: Account, given: { password: string; visit: Visit }): Promise<boolean> =>
      (await testPassword(account, given)) !== null,
    testPassword,
    isCode,
    isConfirmed,
    /** False when session or password has changed since the password was tested. */
    confirm: ({ id }: Session, tested: string): Promise<boolean> =>
      store.sessions.confirmSession({ id, tested }),
    listSessions: (account: Account): Session[] => store.sessions.listSessions(account.id),
    endSession: ({ id: accountId }: Account, id: number) => store.sessions.removeSession({ accountId, id }),
    endOtherSessions: ({ id: accountId }: Account, { id }: Session) =>
      store.sessions.removeOtherSessions({ accountId, id }),
  }
}

/** Changes with the password and with the second factor, and says nothing about either. */
function proofOf({ account, passwordHash, totpSecret }: Credentials): string {
  const parts = [account.id, passwordHash, totpSecret?.toHex() ?? '']
  return hashRandomToken(parts.join(' ')).toString('base64url')
}
