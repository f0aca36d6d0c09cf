// One-time links that create an account or set its password. Stores only their hashes.

import { ACCOUNT_LINK_LIFETIME, type Account, type AccountLink } from '../../domain/account.ts'
import { DomainError } from '../../domain/errors.ts'
import { DAY } from '../../domain/time.ts'
import type { AccountLinkUse, NewAccountLink } from '../accounts-contract.ts'
import { enqueue } from '../notices/outbox.ts'
import { inactiveAccount } from '../refusals.ts'
import { spendNonce } from '../shared-state.ts'
import { addTo, locked, type RowOf, select, statement } from '../statements.ts'
import { affected, all, first, has, isThere, type Parts, run, type Step } from '../steps.ts'
import { accountLinks, accounts } from '../tables.ts'
import { DISOWNING, insertAccount, lockAccount, presentAccount, startAnew } from './accounts.ts'
import { bindTo } from './identities.ts'
import { requireSession } from './sessions.ts'
import { removeTwoFactor } from './two-factor.ts'

/** How many expired links are removed when one is added. */
const REMOVED_AT_ONCE = 500

/**
 * Ignores a link that is dated more than a day ahead: it was made while the clock was ahead, and would be
 * valid for too long.
 */
const LIVE = select(accountLinks, 'WHERE hash = $1 AND expires_at > $2 AND created_at <= $3')
const LIST = select(accountLinks, "WHERE purpose <> 'setup' AND expires_at > $1 ORDER BY created_at, id")
const SETUP_LINKS = select(accountLinks, "WHERE purpose = 'setup' ORDER BY id DESC")
const FOR_ACCOUNT = select(accountLinks, 'WHERE account_id = $1')
const FOR_EMAIL = select(accountLinks, "WHERE purpose = 'invite' AND email = $1")
const LAPSED = locked(
  select(accountLinks, `WHERE expires_at <= $1 LIMIT ${REMOVED_AT_ONCE}`),
  'FOR UPDATE SKIP LOCKED',
)
const insert = addTo(accountLinks)
const REMOVE = statement<{ id: number }>('DELETE FROM account_links WHERE id = $1 RETURNING id')
const REMOVE_LISTED = statement("DELETE FROM account_links WHERE id = $1 AND purpose <> 'setup'")
const ADMIN = select(accounts, 'WHERE is_admin LIMIT 1')
/**
 * Makes and uses links for new accounts one after another, so that only one account becomes the first
 * administrator.
 */
const LOCK_INSTANCE = locked(statement('SELECT id FROM instance WHERE id = 1'))

export function createAccountLinks(parts: Pick<Parts, 'steps' | 'now' | 'setupLinks'>) {
  const { steps, now, setupLinks } = parts
  const { read, write } = steps
  function* add({ hash, session, mail, nonce, ...link }: NewAccountLink): Step<void> {
    yield* lockFor(link)
    const isByAdmin = link.createdBy === null || (yield* lockAccount(link.createdBy))?.isAdmin
    if (!isByAdmin) throw inactiveAccount()
    yield* requireSession(session)
    if (nonce) yield* spendNonce(nonce)
    const createdAt = now()
    for (const { id } of yield* findReplaced(link, createdAt)) yield* run(REMOVE, id)
    yield* insert({
      hash,
      ...link,
      createdAt,
      expiresAt: createdAt + ACCOUNT_LINK_LIFETIME[link.purpose],
    })
    if (mail !== null) yield* enqueue({ kind: 'account_mail', pushId: null, at: createdAt, ...mail })
  }

  function* findReplaced({ purpose, accountId, email }: ReplacedLink, time: number): Step<{ id: number }[]> {
    return [
      ...(purpose === 'setup' ? (yield* all(SETUP_LINKS)).slice(setupLinks - 1) : []),
      ...(accountId === null ? [] : yield* all(FOR_ACCOUNT, accountId)),
      ...(purpose === 'invite' && email !== null ? yield* all(FOR_EMAIL, email) : []),
      ...(yield* all(LAPSED, time)),
    ]
  }

  function* findLive(hash: Uint8Array): Step<AccountLink | null> {
    const time = now()
    const row = yield* first(LIVE, hash, time, time + DAY)
    if (row === null || (row.purpose === 'setup' && (yield* hasAdmin()))) return null
    return presentLink(row)
  }

  function* use({ hash, email, passwordHash, identity }: AccountLinkUse): Step<Account> {
    const found = yield* findLive(hash)
    if (found === null) throw gone()
    // Wait for creates under way. Later ones see that the account was reset.
    yield* lockFor(found, { alone: true })
    const link = yield* findLive(hash)
    if (link === null || !(yield* affected(REMOVE, link.id))) throw gone()
    const { accountId, isAdmin } = link
    if (accountId === null) {
      const account = { email: link.email ?? email, passwordHash, isAdmin, createdAt: now() }
      const row = yield* insertAccount(account)
      if (identity !== undefined) yield* bindTo(row.id, identity, row.createdAt)
      return presentAccount(row)
    }
    if (identity !== undefined) throw gone()
    return yield* reset(link, { accountId, passwordHash })
  }

  function* reset(
    link: AccountLink,
    { accountId, passwordHash }: { accountId: number; passwordHash: string },
  ): Step<Account> {
    const row = yield* startAnew(accountId, passwordHash)
    if (row === null) throw gone()
    if (link.endsTwoFactor) yield* removeTwoFactor(accountId)
    return presentAccount(link.endsTwoFactor ? { ...row, totpSecret: null, passkeys: 0 } : row)
  }

  return {
    /**
     * Replaces an older link for the same purpose and person, except setup links if several nodes serve.
     * Throws `unauthenticated` if the session has ended or its account is no administrator any more;
     * `conflict` if the nonce is used up.
     */
    // Do not check the free space: a server that starts on a full disk needs its setup link.
    addLink: (link: NewAccountLink) => write(() => add(link), { grows: link.purpose !== 'setup' }),
    /**
     * Returns null for a link that was used or has lapsed, and for a setup link once there is an
     * administrator.
     */
    findLink: (hash: Uint8Array) => read(() => findLive(hash), isThere),
    hasAdmin: () => read(hasAdmin),
    /** Makes the account or sets its password, and uses the link up. Throws `not_found` or `conflict`. */
    async useLink(given: AccountLinkUse) {
      const link = await read(() => findLive(given.hash))
      return write(() => use(given), { ...DISOWNING, grows: link !== null && link.accountId === null })
    },
    /** Lists invitations and resets that have not been used. */
    listLinks: async () => (await read(() => all(LIST, now()))).map(presentLink),
    removeLink: (id: number) => write(() => run(REMOVE_LISTED, id)),
  }
}

type ReplacedLink = Pick<AccountLink, 'purpose' | 'accountId' | 'email'>

/** Locks the account or the instance; call this before locking the link. */
function* lockFor({ accountId }: Pick<AccountLink, 'accountId'>, { alone = false } = {}): Step<void> {
  if (accountId === null) yield* run(LOCK_INSTANCE)
  else if ((yield* lockAccount(accountId, { alone })) === null) throw gone()
}

function hasAdmin(): Step<boolean> {
  return has(ADMIN)
}

function presentLink({ hash: _, ...link }: RowOf<typeof accountLinks>): AccountLink {
  return link
}

function gone(): DomainError {
  return new DomainError('not_found', 'not-found')
}
