// One-time links that make an account or set its password: only their hashes. Each exported operation is one atomic step.

import { and, asc, desc, eq, gt, inArray, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { ACCOUNT_LINK_LIFETIME, type Account, type AccountLink } from '../../../domain/account.ts'
import { DomainError } from '../../../domain/errors.ts'
import { DAY, type Now } from '../../../domain/time.ts'
import type { AccountLinkStore, AccountLinkUse, NewAccountLink } from '../../accounts-face.ts'
import { LOCKS } from '../engine/advisory-locks.ts'
import type { Read, Session, Transact } from '../engine/database.ts'
import { accountLinks, accounts } from '../schema/schema.ts'
import { insertAccount, lockAccount, presentAccount, requireSession, updateAccount } from './account-rows.ts'
import { replacePassword } from './accounts.ts'
import { DISOWNING, type OwnedPushes } from './owned-pushes.ts'
import { removeTwoFactor } from './two-factor.ts'

/** Each node that starts makes a setup link and shows it, so those of the others stay valid: the latest. */
const SETUP_LINKS = 10
/** Lapsed links that a new one removes. */
const REMOVED_AT_ONCE = 500

export type AccountLinksOptions = { read: Read; transact: Transact; now: Now; owned: OwnedPushes }

export function createAccountLinks({ read, transact, now, owned }: AccountLinksOptions): AccountLinkStore {
  function addLink({ hash, session: signedIn, ...link }: NewAccountLink): Promise<void> {
    return transact(async (session) => {
      await lockFor(session, link)
      await requireSession(session, signedIn)
      const createdAt = now()
      await removeOlder(session, { ...link, time: createdAt })
      const expiresAt = createdAt + ACCOUNT_LINK_LIFETIME[link.purpose]
      await session.orm.insert(accountLinks).values({ hash, ...link, createdAt, expiresAt })
    })
  }

  function useLink(use: AccountLinkUse): Promise<Account> {
    return transact(async (session) => {
      const found = await findLive(session, { hash: use.hash, time: now() })
      if (found === null) throw gone()
      // A create that comes later sees that the account has begun anew.
      await lockFor(session, found, { alone: true })
      const link = await takeLive(session, { hash: use.hash, time: now() })
      return link.accountId === null
        ? makeAccount(session, { link, use })
        : startAnew(session, { id: link.accountId, link, use })
    }, DISOWNING)
  }

  async function makeAccount(session: Session, { link, use }: { link: AccountLink; use: AccountLinkUse }) {
    const email = link.email ?? use.email
    const row = { email, passwordHash: use.passwordHash, isAdmin: link.isAdmin }
    return presentAccount(await insertAccount(session, { ...row, createdAt: now(), lastSignInAt: 0 }))
  }

  /**
   * For a password that is set with a reset link. The administrator who made the link could use it themselves, so the account
   * loses its pushes, which become anonymous, and its tokens.
   */
  async function startAnew(
    session: Session,
    { id, link, use }: { id: number; link: AccountLink; use: AccountLinkUse },
  ): Promise<Account> {
    await replacePassword(session, { id, passwordHash: use.passwordHash, revoke: true })
    if (link.endsTwoFactor) await removeTwoFactor(session, id)
    await owned.disown(session, id)
    const row = await lockAccount(session, id)
    if (row === undefined) throw gone()
    const resets = row.resets + 1
    await updateAccount(session, { id, set: { resets } })
    return presentAccount({ ...row, resets })
  }

  function listLinks(): Promise<AccountLink[]> {
    return read(async ({ orm }) => {
      const rows = await orm
        .select()
        .from(accountLinks)
        .where(and(ne(accountLinks.purpose, 'setup'), gt(accountLinks.expiresAt, now())))
        .orderBy(asc(accountLinks.createdAt), asc(accountLinks.id))
      return rows.map(presentLink)
    })
  }

  async function removeLink(id: number): Promise<void> {
    const one = and(eq(accountLinks.id, id), ne(accountLinks.purpose, 'setup'))
    await transact(({ orm }) => orm.delete(accountLinks).where(one))
  }

  return {
    addLink,
    findLink: (hash) => read((session) => findLive(session, { hash, time: now() })),
    hasAdmin: () => read(hasAdmin),
    useLink,
    listLinks,
    removeLink,
  }
}

/**
 * Before the link itself. Links for one account, and all that make new accounts, are made and used one after another. So
 * there is one first administrator, and one link for an address.
 */
async function lockFor(
  session: Session,
  { accountId }: Pick<AccountLink, 'accountId'>,
  { alone = false } = {},
): Promise<void> {
  if (accountId === null) await session.query(LOCK_NEW_ACCOUNTS)
  else if ((await lockAccount(session, accountId, { alone })) === undefined) throw gone()
}

const LOCK_NEW_ACCOUNTS = `SELECT pg_advisory_xact_lock(${LOCKS.newAccount})`

type Looked = { hash: Buffer; time: number }

async function findLive(session: Session, { hash, time }: Looked): Promise<AccountLink | null> {
  const [row] = await session.orm.select().from(accountLinks).where(isLive(hash, time))
  if (row === undefined || (row.purpose === 'setup' && (await hasAdmin(session)))) return null
  return presentLink(row)
}

/** Within a transaction. Deletes the link: a node that comes later finds none. */
async function takeLive(session: Session, { hash, time }: Looked): Promise<AccountLink> {
  const [row] = await session.orm.delete(accountLinks).where(isLive(hash, time)).returning()
  if (row === undefined || (row.purpose === 'setup' && (await hasAdmin(session)))) throw gone()
  return presentLink(row)
}

/** A link created more than a day in the future was made while the clock was ahead, and would be valid for too long. */
function isLive(hash: Buffer, time: number): SQL | undefined {
  const inTime = and(gt(accountLinks.expiresAt, time), lte(accountLinks.createdAt, time + DAY))
  return and(eq(accountLinks.hash, hash), inTime)
}

async function hasAdmin({ orm }: Session): Promise<boolean> {
  const found = await orm.select({ one: sql`1` }).from(accounts).where(eq(accounts.isAdmin, true)).limit(1)
  return found.length > 0
}

type Replacing = Pick<AccountLink, 'purpose' | 'accountId' | 'email'>

/** Removes the links that a new one replaces, and some that have lapsed. */
async function removeOlder(session: Session, link: Replacing & { time: number }): Promise<void> {
  const older = [...(await lockReplaced(session, link)), ...(await lockLapsed(session, link.time))]
  const ids = older.map(({ id }) => id)
  if (ids.length > 0) await session.orm.delete(accountLinks).where(inArray(accountLinks.id, ids))
}

type Locked = Promise<{ id: number }[]>

/** In ascending order, as every other node does. */
async function lockReplaced({ orm }: Session, { purpose, accountId, email }: Replacing): Locked {
  const { id, purpose: kind, accountId: account, email: address } = accountLinks
  const olderSetupLinks = orm
    .select({ id })
    .from(accountLinks)
    .where(eq(kind, 'setup'))
    .orderBy(desc(id))
    .offset(SETUP_LINKS - 1)
  const replaced = [
    ...(purpose === 'setup' ? [inArray(id, olderSetupLinks)] : []),
    ...(accountId === null ? [] : [eq(account, accountId)]),
    ...(purpose === 'invite' && email !== null ? [and(eq(kind, 'invite'), eq(address, email))] : []),
  ]
  if (replaced.length === 0) return []
  const which = or(...replaced)
  return orm.select({ id }).from(accountLinks).where(which).orderBy(asc(id)).for('update')
}

/** Leaves out those that another node holds. */
async function lockLapsed({ orm }: Session, time: number): Locked {
  const { id, expiresAt } = accountLinks
  return orm
    .select({ id })
    .from(accountLinks)
    .where(lte(expiresAt, time))
    .limit(REMOVED_AT_ONCE)
    .for('update', { skipLocked: true })
}

function presentLink({ hash: _, ...link }: typeof accountLinks.$inferSelect): AccountLink {
  return link
}

function gone(): DomainError {
  return new DomainError('not_found', 'not-found')
}
