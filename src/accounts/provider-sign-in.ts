// Sign-in by an OpenID provider: finds or creates the account of a person, links accounts, confirms sessions.

import type { Keyring } from '../crypto/keyring.ts'
import { hashToken, isSameSecret } from '../crypto/tokens.ts'
import { type Account, isSignupAddress, NO_PASSWORD } from '../domain/account.ts'
import type { Visit } from '../domain/audit.ts'
import { isDomainError } from '../domain/errors.ts'
import {
  type GroupRule,
  isFreshAt,
  isInGroup,
  isMultiFactor,
  type ProviderClaims,
  verifiedAddress,
} from '../domain/identity.ts'
import { HOUR, MINUTE, type Now } from '../domain/time.ts'
import type { SessionOrigin } from '../store/accounts-contract.ts'
import type { Store } from '../store/contract.ts'
import type { Provider, ProviderSettings, SignInSecrets } from './provider.ts'
import { conflictAs, ProviderError } from './provider-error.ts'
import type { CurrentSession, Sessions, SignIn } from './sessions.ts'
import { createTicket, nonceOf } from './ticket.ts'

export { ProviderError } from './provider-error.ts'

/** Why a browser visits the provider. `session`: the id of the session that asks. */
type ProviderPurpose =
  | { kind: 'sign_in' }
  | { kind: 'invite'; link: string }
  | { kind: 'link' | 'confirm'; session: number }

/** The purpose of a visit to the provider, and the page of this server that follows it. */
type ProviderVisit = { purpose: ProviderPurpose; next: string }

export type ProviderOutcome =
  | (SignIn & { next: string })
  /** The address has an account, whose password is needed to link the person. */
  | { outcome: 'password_needed'; pending: string; email: string; next: string }
  /** The provider has authenticated the person again, but the code of the second factor is needed too. */
  | { outcome: 'confirmation_code_needed'; pending: string; next: string }
  | { outcome: 'linked' | 'confirmed'; next: string }

type StartedSignIn = ProviderVisit & { secrets: SignInSecrets; startedAt: number }

/** A visit that a second form completes: `link` needs the account's password, `confirm` the code. */
type PendingSignIn = { next: string } & (
  | { kind: 'link'; email: string; origin: SessionOrigin; isAdmin: boolean | null }
  | { kind: 'confirm'; session: number }
)

type Proof = () => Promise<boolean>

/** How long a visit to the provider may take, and a password or code afterwards. */
const LIFETIME = 10 * MINUTE

export type ProviderSignIn = ReturnType<typeof createProviderSignIn>

type ProviderSignInOptions = {
  settings: ProviderSettings
  store: Pick<Store, 'accounts' | 'accountLinks' | 'identities'>
  keyring: Keyring
  sessions: Pick<Sessions, 'signInBy' | 'signInByLink' | 'isConfirmed' | 'isCode'>
  /** Whether a first sign-in makes an account. */
  signup: boolean
  /** The domains of e-mail addresses that may sign up; if empty, all may. */
  domains: readonly string[]
  adminGroup: GroupRule | null
  /** The account that only ever signs in with its password. */
  breakGlass: string | null
  sessionHours: number
  now: Now
  /** The system's clock, which the provider's is compared with. */
  systemNow: Now
}

export function createProviderSignIn(options: ProviderSignInOptions) {
  const { settings, store, keyring, sessions, domains, adminGroup, breakGlass, now, systemNow } = options
  const { identities } = store
  const lapsing = { keyring, now, lifetime: LIFETIME }
  const tickets = createTicket<ProviderVisit>({ ...lapsing, field: 'visit to the provider' })
  const visits = createTicket<StartedSignIn>({ ...lapsing, field: 'sign-in by the provider' })
  const waiting = createTicket<PendingSignIn>({ ...lapsing, field: 'pending sign-in by the provider' })
  let loaded: Promise<Provider> | null = null

  /** Loads the libraries with the first visit. */
  function load(): Promise<Provider> {
    loaded ??= import('./provider.ts').then((library) => library.createProvider(settings, systemNow))
    return loaded
  }

  /** Resolves to the provider's address to redirect to, and to the cookie for the way back. */
  async function start({ purpose, next }: ProviderVisit): Promise<{ url: string; cookie: string }> {
    const provider = await load()
    const secrets = provider.newSecrets()
    const url = await provider.authorizationUrl(secrets, { isAsking: purpose.kind === 'confirm' })
    return { url, cookie: visits.seal({ purpose, next, secrets, startedAt: systemNow() }) }
  }

  /**
   * Ends a visit to the provider. `query`: the query of the callback. `cookie`: the cookie that `start` set
   * in this browser. Throws ProviderError.
   */
  async function finish(given: {
    query: URLSearchParams
    cookie: string | null
    session: CurrentSession | null
    visit: Visit
  }): Promise<ProviderOutcome> {
    const begun = given.cookie === null ? null : visits.open(given.cookie)
    if (begun === null) throw new ProviderError('cookie_missing')
    const { secrets, purpose, next } = begun
    if (!isSameSecret(given.query.get('state') ?? '', secrets.state))
      throw new ProviderError('state_mismatch')
    const once = nonceOf(`oidc state ${secrets.state}`, begun.until + MINUTE)
    await identities.spend(once).catch(conflictAs('state_used'))
    const claims = await (await load()).redeem(given.query.toString(), secrets)
    switch (purpose.kind) {
      case 'sign_in':
        return enter(claims, { visit: given.visit, next })
      case 'invite':
        return accept(claims, { link: purpose.link, visit: given.visit, next })
      case 'link':
        return link(claims, { session: requireSession(given.session, purpose.session), next })
      case 'confirm': {
        const session = requireSession(given.session, purpose.session)
        return confirm(claims, { session, startedAt: begun.startedAt, next })
      }
    }
  }

  type Entry = { visit: Visit; next: string }

  async function enter(claims: ProviderClaims, { visit, next }: Entry): Promise<ProviderOutcome> {
    const found = await identities.findCredentials(identityOf(claims))
    if (found === null) return enterFirst(claims, { visit, next })
    requireOpenTo(found.account)
    await followGroup(found.account, claims)
    const signIn = await sessions.signInBy(found, { origin: originOf(claims), visit })
    if (signIn.outcome === 'refused') throw new ProviderError('account_disabled')
    return { ...signIn, next }
  }

  /**
   * Signs in a person without a linked account: makes an account, or asks for the password of the account
   * with the same address.
   */
  async function enterFirst(claims: ProviderClaims, { visit, next }: Entry): Promise<ProviderOutcome> {
    const email = verifiedAddress(claims, domains)
    if (email === null) throw new ProviderError('address_unverified')
    const found = await store.accounts.findCredentials(email)
    if (found !== null) {
      requireOpenTo(found.account)
      if (!found.account.hasPassword) throw new ProviderError('address_taken')
      const person = { kind: 'link', email, origin: originOf(claims), isAdmin: groupOf(claims) } as const
      return { outcome: 'password_needed', pending: waiting.seal({ ...person, next }), email, next }
    }
    if (email === breakGlass) throw new ProviderError('break_glass')
    if (!options.signup) throw new ProviderError('no_account')
    if (!isSignupAddress(email, domains)) throw new ProviderError('domain_not_allowed')
    const person = { email, isAdmin: groupOf(claims) ?? false, identity: identityOf(claims) }
    await identities.addAccount(person).catch(conflictAs('address_taken'))
    return enter(claims, { visit, next })
  }

  /** Makes the account of an invitation for the person, whatever their address at the provider. */
  async function accept(claims: ProviderClaims, { link, visit, next }: Entry & { link: string }) {
    const hash = hashToken(link)
    const found = await store.accountLinks.findLink(hash)
    if (found?.purpose !== 'invite' || found.email === null) throw new ProviderError('link_lapsed')
    if (found.email === breakGlass) throw new ProviderError('break_glass')
    const use = { hash, email: found.email, passwordHash: NO_PASSWORD, identity: identityOf(claims) }
    await store.accountLinks.useLink(use).catch((cause) => {
      if (isDomainError(cause, 'not_found')) throw new ProviderError('link_lapsed')
      return conflictAs('person_taken')(cause)
    })
    return enter(claims, { visit, next })
  }

  type OfSession = { session: CurrentSession; next: string }

  async function link(claims: ProviderClaims, { session, next }: OfSession): Promise<ProviderOutcome> {
    const { account } = session
    if (!sessions.isConfirmed(session.session)) throw new ProviderError('session_not_confirmed')
    requireOpenTo(account)
    const found = await store.accounts.findCredentials(account.email)
    if (found === null) throw new ProviderError('session_ended')
    const asked = { accountId: account.id, tested: found.passwordHash, ...identityOf(claims) }
    await identities.bind(asked).catch(conflictAs('person_taken'))
    return { outcome: 'linked', next }
  }

  /** Confirms the session if the provider has just authenticated the same person again. */
  async function confirm(
    claims: ProviderClaims,
    { session, startedAt, next }: OfSession & { startedAt: number },
  ): Promise<ProviderOutcome> {
    const { issuer, subject, id } = session.session
    if (claims.iss !== issuer || claims.sub !== subject) throw new ProviderError('another_person')
    const isFresh = isFreshAt(claims, { startedAt, now: systemNow() })
    if (isFresh === false) throw new ProviderError('not_asked_again')
    if (session.account.hasTwoFactor) {
      const pending = waiting.seal({ kind: 'confirm', session: id, next })
      return { outcome: 'confirmation_code_needed', pending, next }
    }
    if (isFresh === null) throw new ProviderError('auth_time_missing')
    if (!(await identities.confirmSession(id))) throw new ProviderError('session_ended')
    return { outcome: 'confirmed', next }
  }

  /**
   * Confirms a session by the second factor that the confirmation waited for: a code, or the proof of a
   * passkey. Throws `too_many`.
   */
  async function confirmBy(session: CurrentSession, given: { pending: string; proof: string | Proof }) {
    const pending = waiting.open(given.pending)
    if (pending?.kind !== 'confirm') return { outcome: 'too_late' as const }
    requireSession(session, pending.session)
    const { proof } = given
    const isRight = typeof proof === 'string' ? sessions.isCode(session.account, proof) : proof()
    if (!(await isRight)) return { outcome: 'wrong' as const }
    if (!(await identities.confirmSession(pending.session))) throw new ProviderError('session_ended')
    return { outcome: 'confirmed' as const, next: pending.next }
  }

  /** Links the person to the account whose password is given, and signs in. Throws `too_many`. */
  async function linkByPassword(given: { pending: string; password: string; visit: Visit }) {
    const pending = waiting.open(given.pending)
    if (pending?.kind !== 'link') return { outcome: 'too_late' as const }
    const { email, origin, isAdmin, next } = pending
    const sealedAt = pending.until - LIFETIME
    const signIn = await sessions
      .signInByLink({ ...given, email, origin, at: sealedAt, isAdmin })
      .catch(conflictAs('person_taken'))
    return signIn.outcome === 'refused' ? { outcome: 'wrong' as const, email } : { ...signIn, next }
  }

  /** Ends the sessions that a logout token names; resolves to their account. Throws ProviderError. */
  async function logOut(token: string): Promise<Pick<Account, 'email'> | null> {
    const { jti, lapsesAt, ...whose } = await (await load()).readLogout(token)
    const nonce = nonceOf(`oidc jti ${whose.issuer} ${jti}`, lapsesAt)
    return identities.endSessions({ ...whose, nonce }).catch(conflictAs('logout_token_used'))
  }

  /** Throws for an account that a provider may not sign in. */
  function requireOpenTo({ email, disabledAt }: Account): void {
    if (email === breakGlass) throw new ProviderError('break_glass')
    if (disabledAt !== null) throw new ProviderError('account_disabled')
  }

  function groupOf(claims: ProviderClaims): boolean | null {
    return adminGroup === null ? null : isInGroup(claims, adminGroup)
  }

  async function followGroup({ id, isAdmin }: Account, claims: ProviderClaims): Promise<void> {
    const isMember = groupOf(claims)
    if (isMember !== null && isMember !== isAdmin) await identities.setAdmin({ id, isAdmin: isMember })
  }

  function originOf(claims: ProviderClaims): SessionOrigin {
    const { sid } = claims
    const session = typeof sid === 'string' && sid !== '' && sid.length <= 255 ? sid : null
    const endsAt = now() + options.sessionHours * HOUR
    return { via: 'oidc', ...identityOf(claims), sid: session, isMultiFactor: isMultiFactor(claims), endsAt }
  }

  return {
    /** Seals a visit for a link on a page, which works for ten minutes. */
    issueTicket: tickets.seal,
    /** Returns null for a ticket that is old or altered. */
    readTicket: (text: string): ProviderVisit | null => tickets.open(text),
    ...{ start, finish, linkByPassword, confirmBy, logOut },
    /** Whether the account is linked to a person. */
    isLinked: ({ id }: Account) => identities.isBound(id),
    /**
     * Removes the link to the provider and the sessions that began with it. Returns false for an account
     * without a password.
     */
    unlink: ({ id }: Account) => identities.unbind(id),
    /** Whether the account may be linked. */
    isOpenTo: ({ email }: Account) => email !== breakGlass,
    /** Whether the provider can confirm this session. */
    canConfirm: ({ session }: CurrentSession) => session.via === 'oidc' && session.issuer !== null,
  }
}

function identityOf({ iss, sub }: ProviderClaims) {
  return { issuer: iss, subject: sub }
}

function requireSession(session: CurrentSession | null, id: number): CurrentSession {
  if (session?.session.id !== id) throw new ProviderError('session_ended')
  return session
}
