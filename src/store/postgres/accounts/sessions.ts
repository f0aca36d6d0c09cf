// Sessions of signed-in browsers, with only the hashes of their tokens. Each exported operation is one atomic step.

import { and, desc, eq, gt, inArray, lte, ne, or, type SQL } from 'drizzle-orm'
import {
  isSessionEnded,
  MAX_SESSIONS,
  SESSION_IDLE,
  SESSION_LIFETIME,
  type Session,
} from '../../../domain/account.ts'
import { DAY, MINUTE, type Now } from '../../../domain/time.ts'
import type { SessionStore, SessionToStore, SignedIn } from '../../accounts-face.ts'
import { inactiveAccount } from '../../every-engine/refusals.ts'
import type { Session as Connection, Read, Transact } from '../engine/database.ts'
import { columnsTo } from '../schema/rows.ts'
import { accounts, sessions } from '../schema/schema.ts'
import { type AccountRow, lockAccount, presentAccount, updateAccount } from './account-rows.ts'

/** Runs with every request of a signed-in browser. */
const BY_HASH = `
  SELECT ${columnsTo(accounts, 'a.')}, s.id::float8 AS "sessionId", s.created_at::float8 AS "startedAt",
    s.last_seen_at::float8 AS "lastSeenAt", s.ip, s.user_agent AS "userAgent",
    s.confirmed_at::float8 AS "confirmedAt"
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = $1 AND a.disabled_at IS NULL`

type FoundSession = AccountRow & Omit<Session, 'id' | 'createdAt'> & { sessionId: number; startedAt: number }

/** Ended sessions that one sign-in removes. */
const REMOVED_AT_ONCE = 500

export function createSessions(options: { read: Read; transact: Transact; now: Now }): SessionStore {
  const { read, transact, now } = options

  /** The account is locked, so that its password does not change meanwhile and other nodes add no session at the same time. */
  function addSession({ accountId, hash, visit, tested }: SessionToStore): Promise<void> {
    return transact(async (connection) => {
      const account = await lockAccount(connection, accountId)
      if (account === undefined || account.disabledAt !== null || account.passwordHash !== tested)
        throw inactiveAccount()
      const time = now()
      await updateAccount(connection, { id: accountId, set: { lastSignInAt: time } })
      const { ip, userAgent } = visit
      const row = { accountId, hash, createdAt: time, lastSeenAt: time, ip, userAgent, confirmedAt: time }
      await connection.orm.insert(sessions).values(row)
      const tooMany = (await sessionsOf(connection, { accountId, time })).slice(MAX_SESSIONS)
      await removeThese(
        connection,
        tooMany.map(({ id }) => id),
      )
      await removeEnded(connection, time)
    })
  }

  async function findByHash(hash: Uint8Array): Promise<SignedIn | null> {
    const [found] = await read((connection) => connection.query<FoundSession>(BY_HASH, [hash]))
    if (found === undefined) return null
    const { sessionId: id, startedAt: createdAt, lastSeenAt, ip, userAgent, confirmedAt } = found
    const session = { id, createdAt, lastSeenAt, ip, userAgent, confirmedAt }
    return isSessionEnded(session, now()) ? null : { account: presentAccount(found), session }
  }

  async function noteUse({ id, lastSeenAt }: Session): Promise<void> {
    const time = now()
    if (Math.abs(time - lastSeenAt) < MINUTE) return
    await transact(({ orm }) => orm.update(sessions).set({ lastSeenAt: time }).where(eq(sessions.id, id)))
  }

  function confirmSession({ id, tested }: { id: number; tested: string }): Promise<boolean> {
    return transact(async (connection) => {
      const { orm } = connection
      const [found] = await orm
        .select({ accountId: sessions.accountId })
        .from(sessions)
        .where(eq(sessions.id, id))
      const account = found && (await lockAccount(connection, found.accountId))
      if (account?.passwordHash !== tested) return false
      const confirmed = await orm
        .update(sessions)
        .set({ confirmedAt: now() })
        .where(eq(sessions.id, id))
        .returning({ id: sessions.id })
      return confirmed.length > 0
    })
  }

  function listSessions(accountId: number): Promise<Session[]> {
    return read((connection) => sessionsOf(connection, { accountId, time: now() }))
  }

  const remove = async (which: SQL | undefined) => {
    await transact(({ orm }) => orm.delete(sessions).where(which))
  }

  return {
    addSession,
    findByHash,
    noteUse,
    confirmSession,
    listSessions,
    removeSession: ({ accountId, id }) => remove(and(eq(sessions.accountId, accountId), eq(sessions.id, id))),
    removeOtherSessions: ({ accountId, id }) =>
      remove(and(eq(sessions.accountId, accountId), ne(sessions.id, id))),
  }
}

function sessionsOf({ orm }: Connection, { accountId, time }: { accountId: number; time: number }) {
  const { id, createdAt, lastSeenAt, ip, userAgent, confirmedAt } = sessions
  return orm
    .select({ id, createdAt, lastSeenAt, ip, userAgent, confirmedAt })
    .from(sessions)
    .where(
      and(
        eq(sessions.accountId, accountId),
        gt(lastSeenAt, time - SESSION_IDLE),
        gt(createdAt, time - SESSION_LIFETIME),
        lte(createdAt, time + DAY),
      ),
    )
    .orderBy(desc(lastSeenAt), desc(id))
}

/** Skips rows that another transaction holds, so that two sign-ins never wait for each other over the sessions of others. */
async function removeEnded(connection: Connection, time: number): Promise<void> {
  const { id, createdAt, lastSeenAt } = sessions
  const ended = await connection.orm
    .select({ id })
    .from(sessions)
    .where(
      or(
        lte(lastSeenAt, time - SESSION_IDLE),
        lte(createdAt, time - SESSION_LIFETIME),
        gt(createdAt, time + DAY),
      ),
    )
    .limit(REMOVED_AT_ONCE)
    .for('update', { skipLocked: true })
  await removeThese(
    connection,
    ended.map((session) => session.id),
  )
}

async function removeThese({ orm }: Connection, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await orm.delete(sessions).where(inArray(sessions.id, [...ids]))
}
