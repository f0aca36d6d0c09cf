// Sessions of signed-in browsers, with only the hashes of their tokens. Each exported operation is one atomic step.

import { and, desc, eq, gt, isNull, lte, ne, or, sql } from 'drizzle-orm'
import {
  isSessionEnded,
  MAX_SESSIONS,
  SESSION_IDLE,
  SESSION_LIFETIME,
  type Session,
} from '../../../domain/account.ts'
import { DAY, MINUTE, type Now } from '../../../domain/time.ts'
import type { SessionStore, SessionToStore, SignedIn } from '../../accounts-face.ts'
import type { Damage } from '../../every-engine/damage.ts'
import { endedSession, inactiveAccount } from '../../every-engine/refusals.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { given } from '../engine/placeholders.ts'
import { accounts, sessions } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'
import { type AccountRow, presentAccount, updateRow } from './account-rows.ts'

export function createSessions(options: {
  connection: Connection
  transact: Transact
  now: Now
  damage: Pick<Damage, 'presentIntact'>
}): SessionStore {
  const { transact, now, damage } = options
  const { orm } = options.connection
  const byHash = orm
    .select({ account: accounts, session: sessions })
    .from(sessions)
    .innerJoin(accounts, eq(accounts.id, sessions.accountId))
    .where(and(eq(sessions.hash, sql.placeholder('hash')), isNull(accounts.disabledAt)))
    .prepare()
  const setLastSeen = orm
    .update(sessions)
    .set({ lastSeenAt: given('now') })
    .where(eq(sessions.id, sql.placeholder('id')))
    .prepare()

  function addSession({ accountId, hash, visit, tested }: SessionToStore): Promise<void> {
    return transact(() => {
      removeEnded()
      const account = orm.select().from(accounts).where(eq(accounts.id, accountId)).get()
      if (account === undefined || account.disabledAt !== null || account.passwordHash !== tested) {
        throw inactiveAccount()
      }
      const time = now()
      updateRow({ orm }, { id: accountId, set: { lastSignInAt: time } })
      const { ip, userAgent } = visit
      const row = { accountId, hash, createdAt: time, lastSeenAt: time, ip, userAgent, confirmedAt: time }
      orm
        .insert(sessions)
        .values({ ...row, checksum: checksumOfSession(row) })
        .run()
      const tooMany = listSessions(accountId).slice(MAX_SESSIONS)
      for (const { id } of tooMany) orm.delete(sessions).where(eq(sessions.id, id)).run()
    })
  }

  function removeEnded(): void {
    const time = now()
    const ended = or(
      lte(sessions.lastSeenAt, time - SESSION_IDLE),
      lte(sessions.createdAt, time - SESSION_LIFETIME),
      gt(sessions.createdAt, time + DAY),
    )
    orm.delete(sessions).where(ended).run()
  }

  async function findByHash(hash: Uint8Array): Promise<SignedIn | null> {
    const [found] = damage.presentIntact(byHash.all({ hash }), presentSignedIn)
    if (found === undefined) return null
    return isSessionEnded(found.session, now()) ? null : found
  }

  async function noteUse({ id, lastSeenAt }: Session): Promise<void> {
    const time = now()
    if (Math.abs(time - lastSeenAt) < MINUTE) return
    await transact(() => void setLastSeen.run({ now: time, id }))
  }

  function confirmSession({ id, tested }: { id: number; tested: string }): Promise<boolean> {
    return transact(() => {
      const found = orm
        .select({ account: accounts, session: sessions })
        .from(sessions)
        .innerJoin(accounts, eq(accounts.id, sessions.accountId))
        .where(eq(sessions.id, id))
        .get()
      if (found === undefined || found.account.passwordHash !== tested) return false
      presentSignedIn(found)
      const session = { ...found.session, confirmedAt: now() }
      const { confirmedAt } = session
      const set = { confirmedAt, checksum: checksumOfSession(session) }
      orm.update(sessions).set(set).where(eq(sessions.id, id)).run()
      return true
    })
  }

  function listSessions(accountId: number): Session[] {
    const { id, createdAt, lastSeenAt, ip, userAgent, confirmedAt } = sessions
    return orm
      .select({ id, createdAt, lastSeenAt, ip, userAgent, confirmedAt })
      .from(sessions)
      .where(
        and(
          eq(sessions.accountId, accountId),
          gt(lastSeenAt, now() - SESSION_IDLE),
          gt(createdAt, now() - SESSION_LIFETIME),
          lte(createdAt, now() + DAY),
        ),
      )
      .orderBy(desc(lastSeenAt), desc(id))
      .all()
  }

  function removeSession({ accountId, id }: { accountId: number; id: number }): Promise<void> {
    const one = and(eq(sessions.accountId, accountId), eq(sessions.id, id))
    return transact(() => void orm.delete(sessions).where(one).run())
  }

  function removeOtherSessions({ accountId, id }: { accountId: number; id: number }): Promise<void> {
    const others = and(eq(sessions.accountId, accountId), ne(sessions.id, id))
    return transact(() => void orm.delete(sessions).where(others).run())
  }

  return {
    addSession,
    findByHash,
    noteUse,
    confirmSession,
    listSessions: async (accountId) => listSessions(accountId),
    removeSession,
    removeOtherSessions,
  }
}

/**
 * Within a transaction: throws `unauthenticated` when the session has ended, for example because the password was changed
 * meanwhile. Null, for operations without a session, always passes.
 */
export function requireSession({ orm }: Pick<Connection, 'orm'>, id: number | null): void {
  if (id === null) return
  const found = orm.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, id)).get()
  if (found === undefined) throw endedSession()
}

type SessionRow = typeof sessions.$inferSelect

/** Throws when one of them was altered on disk. */
function presentSignedIn({ account, session }: { account: AccountRow; session: SessionRow }): SignedIn {
  requireIntactRow(session, checksumOfSession(session), `session ${session.id}`)
  return { account: presentAccount(account), session }
}

/** Does not cover the time it was last seen, which is written often and may be wrong without harm. */
function checksumOfSession(row: Omit<SessionRow, 'id' | 'lastSeenAt' | 'checksum'>): number {
  const { accountId, hash, createdAt, ip, userAgent, confirmedAt } = row
  // Last, so that a 0 leaves the checksums of sessions from before this column as they are.
  return checksumOf([accountId, hash, createdAt, ip, userAgent, confirmedAt])
}
