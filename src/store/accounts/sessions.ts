// Sessions of signed-in browsers, with only the hashes of their tokens.

import {
  isSessionEnded,
  MAX_SESSIONS,
  SESSION_IDLE,
  SESSION_LIFETIME,
  type Session,
} from '../../domain/account.ts'
import { DomainError } from '../../domain/errors.ts'
import { DAY, MINUTE } from '../../domain/time.ts'
import type { SessionToStore, SignedIn } from '../accounts-contract.ts'
import { inactiveAccount } from '../refusals.ts'
import { addTo, locked, type RowOf, select, statement } from '../statements.ts'
import { affected, all, first, has, isThere, type Parts, run, type Step, together } from '../steps.ts'
import { accounts, sessions } from '../tables.ts'
import { lockAccount, presentAccount } from './accounts.ts'

type SessionRow = RowOf<typeof sessions>
type SessionOfAccount = { accountId: number; id: number }

/** The maximum number of ended sessions that a sign-in removes. */
const REMOVED_AT_ONCE = 500

/** Prepared, because both statements run with every request of a signed-in browser. */
const BY_HASH = select(sessions, 'WHERE hash = $1')
const SIGNED_IN_BY = select(
  accounts,
  'WHERE id = (SELECT account_id FROM sessions WHERE hash = $1) AND disabled_at IS NULL',
)
const FIND = select(sessions, 'WHERE id = $1')
const HOLD = locked(FIND, 'FOR SHARE')
/** Ignores a session that is dated more than a day ahead: it began while the clock was ahead. */
const OF_ACCOUNT = select(
  sessions,
  `WHERE account_id = $1 AND last_seen_at > $2 AND created_at > $3 AND created_at <= $4
  ORDER BY last_seen_at DESC, id DESC`,
)
const ENDED = locked(
  statement<{ id: number }>(
    `SELECT id FROM sessions WHERE last_seen_at <= $1 OR created_at <= $2 OR created_at > $3 LIMIT ${REMOVED_AT_ONCE}`,
  ),
  'FOR UPDATE SKIP LOCKED',
)
const insert = addTo(sessions)
/** The origin of a sign-in with a password. */
const NO_ORIGIN = { via: null, issuer: null, subject: null, sid: null, isMultiFactor: false, endsAt: null }
const SIGNED_IN = statement('UPDATE accounts SET last_sign_in_at = $2 WHERE id = $1')
const SET_LAST_SEEN = statement('UPDATE sessions SET last_seen_at = $2 WHERE id = $1')
const CONFIRM = statement<{ id: number }>('UPDATE sessions SET confirmed_at = $2 WHERE id = $1 RETURNING id')
const REMOVE = statement('DELETE FROM sessions WHERE id = $1')
const REMOVE_ONE = statement('DELETE FROM sessions WHERE account_id = $1 AND id = $2')
const REMOVE_OTHERS = statement('DELETE FROM sessions WHERE account_id = $1 AND id <> $2')

export function createSessions({ steps: { read, write }, now }: Pick<Parts, 'steps' | 'now'>) {
  /**
   * Adds a session. Locks the account, so that its password does not change meanwhile, and no other node adds
   * a session at the same time.
   */
  function* add({
    accountId,
    hash,
    visit: { ip, userAgent },
    tested,
    origin = null,
  }: SessionToStore): Step<void> {
    const account = yield* lockAccount(accountId)
    if (account === null || account.disabledAt !== null || account.passwordHash !== tested)
      throw inactiveAccount()
    const time = now()
    yield* run(SIGNED_IN, accountId, time)
    yield* insert({
      accountId,
      hash,
      createdAt: time,
      lastSeenAt: time,
      ip,
      userAgent,
      // Do not count this as a confirmation: the provider may have recognised the browser without asking
      // anybody.
      confirmedAt: origin === null ? time : 0,
      ...(origin ?? NO_ORIGIN),
    })
    const tooMany = (yield* listOf(accountId, time)).slice(MAX_SESSIONS)
    const ended = yield* all(ENDED, time - SESSION_IDLE, time - SESSION_LIFETIME, time + DAY)
    for (const { id } of [...tooMany, ...ended]) yield* run(REMOVE, id)
  }

  /** Returns null for a session that has ended, and for a disabled account. */
  async function findByHash(hash: Uint8Array): Promise<SignedIn | null> {
    const [row, account] = await read(
      () => together(first(BY_HASH, hash), first(SIGNED_IN_BY, hash)),
      (found) => found.every(isThere),
    )
    if (row === null || account === null) return null
    const { accountId: _, hash: __, ...session } = row
    return isSessionEnded(session, now()) ? null : { account: presentAccount(account), session }
  }

  /** Writes at most once a minute. */
  async function noteUse({ id, lastSeenAt }: Session): Promise<void> {
    const time = now()
    if (Math.abs(time - lastSeenAt) >= MINUTE) await write(() => run(SET_LAST_SEEN, id, time))
  }

  function* confirm({ id, tested }: { id: number; tested: string }): Step<boolean> {
    const session = yield* first(FIND, id)
    const account = session && (yield* lockAccount(session.accountId))
    if (account?.passwordHash !== tested) return false
    return yield* affected(CONFIRM, id, now())
  }

  return {
    /** Throws `unauthenticated` when the account is disabled or its password has changed. */
    addSession: (session: SessionToStore) => write(() => add(session)),
    findByHash,
    noteUse,
    /**
     * Records that the password was confirmed in this session. Returns false if the session or the password
     * has changed meanwhile.
     */
    confirmSession: (session: { id: number; tested: string }) => write(() => confirm(session)),
    /** Lists sessions, the most recently seen first. */
    listSessions: async (accountId: number) =>
      (await read(() => listOf(accountId, now()))).map(presentSession),
    removeSession: ({ accountId, id }: SessionOfAccount) => write(() => run(REMOVE_ONE, accountId, id)),
    /** Removes all sessions of the account but this one. */
    removeOtherSessions: ({ accountId, id }: SessionOfAccount) =>
      write(() => run(REMOVE_OTHERS, accountId, id)),
  }
}

/**
 * Locks a session. Throws `unauthenticated` if it has ended, for example because the password was changed.
 * Does nothing for null, which is passed for actions without a session.
 */
export function* requireSession(id: number | null): Step<void> {
  if (id !== null && !(yield* has(HOLD, id)))
    throw new DomainError('unauthenticated', 'This session has ended.')
}

function* listOf(accountId: number, time: number): Step<SessionRow[]> {
  const times = [time - SESSION_IDLE, time - SESSION_LIFETIME, time + DAY]
  return (yield* all(OF_ACCOUNT, accountId, ...times)).filter((session) => !isSessionEnded(session, time))
}

function presentSession({ accountId: _, hash: __, ...session }: SessionRow): Session {
  return session
}
