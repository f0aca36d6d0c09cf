// Links persons at a provider to accounts, and applies their sign-ins and logouts.

import { hashToken } from '../../crypto/tokens.ts'
import { type Account, NO_PASSWORD } from '../../domain/account.ts'
import { conflict } from '../../domain/errors.ts'
import type { PageNonce } from '../../domain/page-nonce.ts'
import type { Credentials, Identity, ProviderLogout } from '../accounts-contract.ts'
import { inactiveAccount } from '../refusals.ts'
import { hasEnded, noteEnd, spendNonce } from '../shared-state.ts'
import { insertUnlessThere, locked, select, statement } from '../statements.ts'
import { affected, all, first, has, type Parts, run, type Step } from '../steps.ts'
import { accounts, identities, sessions } from '../tables.ts'
import { findOwner, insertAccount, lockAccount, presentAccount, presentCredentials } from './accounts.ts'

const FIND = select(identities, 'WHERE issuer = $1 AND subject = $2')
const ACCOUNT = select(
  accounts,
  'WHERE id = (SELECT account_id FROM identities WHERE issuer = $1 AND subject = $2)',
)
const OF_ACCOUNT = select(identities, 'WHERE account_id = $1')
const insert = insertUnlessThere(identities)
const REMOVE = statement('DELETE FROM identities WHERE account_id = $1')
const END_PROVIDED = statement("DELETE FROM sessions WHERE account_id = $1 AND via = 'oidc'")
const SET_ADMIN = statement('UPDATE accounts SET is_admin = $2 WHERE id = $1')
const END_LINKS_BY = statement('DELETE FROM account_links WHERE created_by = $1')
const OF_PROVIDER = locked(select(sessions, 'WHERE issuer = $1 AND subject = $2 ORDER BY id'), 'FOR UPDATE')
const OF_PROVIDER_SESSION = locked(select(sessions, 'WHERE issuer = $1 AND sid = $2'), 'FOR UPDATE')
const END = statement('DELETE FROM sessions WHERE id = $1')
const CONFIRM = statement<{ id: number }>('UPDATE sessions SET confirmed_at = $2 WHERE id = $1 RETURNING id')

/** An account without a password. `identity`: null if a proxy names its owner. */
type ExternalAccount = { email: string; isAdmin: boolean; identity: Identity | null }

type AccountEmail = Pick<Account, 'email'>

export function createIdentities({ steps: { read, write }, now }: Pick<Parts, 'steps' | 'now'>) {
  async function findCredentials({ issuer, subject }: Identity): Promise<Credentials | null> {
    const row = await read(() => first(ACCOUNT, issuer, subject))
    return row && presentCredentials(row)
  }

  function* add({ email, isAdmin, identity }: ExternalAccount): Step<Account> {
    const createdAt = now()
    const row = yield* insertAccount({ email, isAdmin, passwordHash: NO_PASSWORD, createdAt })
    if (identity !== null) yield* bindTo(row.id, identity, createdAt)
    return presentAccount(row)
  }

  function* bind(asked: { accountId: number; tested: string } & Identity): Step<AccountEmail> {
    const { accountId, tested, ...identity } = asked
    const account = yield* lockAccount(accountId)
    if (account === null || account.disabledAt !== null || account.passwordHash !== tested)
      throw inactiveAccount()
    yield* bindTo(accountId, identity, now())
    return { email: account.email }
  }

  function* unbind(accountId: number): Step<boolean> {
    const account = yield* lockAccount(accountId)
    if (account === null || account.passwordHash === NO_PASSWORD) return false
    yield* run(REMOVE, accountId)
    yield* run(END_PROVIDED, accountId)
    return true
  }

  function* setAdmin({ id, isAdmin }: { id: number; isAdmin: boolean }): Step<AccountEmail | null> {
    const account = yield* lockAccount(id)
    yield* run(SET_ADMIN, id, isAdmin)
    if (!isAdmin) yield* run(END_LINKS_BY, id)
    return account && { email: account.email }
  }

  function* endSessions({ issuer, sid, subject, nonce }: ProviderLogout): Step<AccountEmail | null> {
    yield* spendNonce(nonce)
    yield* noteEnd(sid === null ? nameOf(issuer, 'sub', subject) : nameOf(issuer, 'sid', sid), now())
    const ofSession = sid === null ? [] : yield* all(OF_PROVIDER_SESSION, issuer, sid)
    const ofPerson = subject === null ? [] : yield* all(OF_PROVIDER, issuer, subject)
    const ended = [
      ...ofSession.filter((session) => subject === null || session.subject === subject),
      // Include sessions without an id from the provider: they can only end with all others of the person.
      ...ofPerson.filter((session) => sid === null || session.sid === null),
    ]
    for (const { id } of ended) yield* run(END, id)
    // All ended sessions belong to one account, because a person or a session of the provider has only one.
    const [one] = ended
    const account = one === undefined ? null : yield* findOwner(one.accountId)
    return account && { email: account.email }
  }

  return {
    /** Finds the account of a person, with what its sign-in needs. */
    findCredentials,
    /** Whether a person is linked to the account. */
    isBound: (accountId: number) => read(() => has(OF_ACCOUNT, accountId)),
    /** Makes an account without a password. Throws `conflict` when address or person has an account. */
    addAccount: (account: ExternalAccount) => write(() => add(account), { grows: true }),
    /**
     * Binds a person to an account. Throws `conflict` when the person has another account already, and
     * `unauthenticated` when the account is disabled or its password has changed since `tested`. Resolves to
     * the account's address.
     */
    bind: (asked: { accountId: number; tested: string } & Identity) =>
      write(() => bind(asked), { grows: true }),
    /** Removes the links and their sessions. Returns false for an account that has no password instead. */
    unbind: (accountId: number) => write(() => unbind(accountId)),
    /** Follow the groups of the provider, even if no administrator is left. */
    setAdmin: (change: { id: number; isAdmin: boolean }) => write(() => setAdmin(change)),
    /** Spends a nonce. Throws `conflict` for one that was spent before. */
    spend: (nonce: PageNonce) => write(() => spendNonce(nonce)),
    /**
     * Ends the sessions that the provider names, and resolves to their account. Throws `conflict` for a used
     * logout token.
     */
    endSessions: (logout: ProviderLogout) => write(() => endSessions(logout)),
    /** Whether the provider has ended this session, or all of the person, after `since`. */
    isEnded: ({ issuer, sid, subject }: Omit<ProviderLogout, 'nonce'>, since: number) =>
      read(() => hasEnded([nameOf(issuer, 'sub', subject), nameOf(issuer, 'sid', sid)], since)),
    /** Notes that the provider asked for the person again. Returns false when the session has ended. */
    confirmSession: (id: number) => write(() => affected(CONFIRM, id, now())),
  }
}

/** Names a session or person of a provider, whose own names may be long. */
function nameOf(issuer: string, kind: 'sub' | 'sid', name: string | null): string {
  return hashToken(JSON.stringify([issuer, kind, name])).toString('base64url')
}

/** Throws `conflict` when the person has another account already. */
export function* bindTo(accountId: number, identity: Identity, createdAt: number): Step<void> {
  const added = yield* insert({ ...identity, accountId, createdAt })
  if (added !== null) return
  const present = yield* first(FIND, identity.issuer, identity.subject)
  if (present?.accountId !== accountId) throw conflict('This person has an account already.')
}
