// The rows of accounts, and everything that ends when a password changes, a right is withdrawn or an account
// is removed.

import { getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Account, NO_PASSWORD } from '../../domain/account.ts'
import { conflict } from '../../domain/errors.ts'
import type { Credentials, NewAccount, NewPassword } from '../accounts-contract.ts'
import { disown, removeSomeOf } from '../pushes/expiry.ts'
import { inactiveAccount } from '../refusals.ts'
import { insertUnlessThere, locked, type RowOf, select, statement } from '../statements.ts'
import { affected, all, first, has, type Parts, run, type Step } from '../steps.ts'
import * as tables from '../tables.ts'
import { accounts } from '../tables.ts'

export type AccountRow = RowOf<typeof accounts>

const FIND = select(accounts, 'WHERE id = $1')
const LOCK = locked(FIND)
/** Locks an account only against its removal and its reset. */
const SHARE = locked(FIND, 'FOR KEY SHARE')
const LOCK_ALONE = locked(FIND, 'FOR UPDATE')
const BY_EMAIL = select(accounts, 'WHERE email = $1')
const LIST = select(accounts, 'ORDER BY email')
const insert = insertUnlessThere(accounts)
const SET_PASSWORD = statement('UPDATE accounts SET password_hash = $2 WHERE id = $1')
const REHASH = statement<{ id: number }>(
  'UPDATE accounts SET password_hash = $3 WHERE id = $1 AND password_hash = $2 RETURNING id',
)
const DISABLE = statement('UPDATE accounts SET disabled_at = $2 WHERE id = $1 AND disabled_at IS NULL')
const ENABLE = statement('UPDATE accounts SET disabled_at = NULL WHERE id = $1')
const SET_ADMIN = statement('UPDATE accounts SET is_admin = $2 WHERE id = $1')
const SET_SERVICE = statement('UPDATE accounts SET is_service = $2 WHERE id = $1')
const SET_RESETS = statement('UPDATE accounts SET resets = $2 WHERE id = $1')
const REMOVE = statement('DELETE FROM accounts WHERE id = $1')
/**
 * Locks all administrators in a fixed order, so that two nodes cannot demote the last two at the same time.
 */
const LOCK_ADMINS = locked(select(accounts, 'WHERE is_admin AND disabled_at IS NULL ORDER BY id'))

const END_SESSIONS = statement('DELETE FROM sessions WHERE account_id = $1 AND id <> $2')
const END_LINKS_FOR = statement('DELETE FROM account_links WHERE account_id = $1')
const END_LINKS_BY = statement('DELETE FROM account_links WHERE created_by = $1')
/**
 * Turns passkeys into second factors. Each signs in by itself again once it was used with the new password.
 */
const DEMOTE_PASSKEYS = statement('UPDATE passkeys SET signs_in = false WHERE account_id = $1')
const UNBIND = statement('DELETE FROM identities WHERE account_id = $1')
const REVOKE_TOKENS = statement('DELETE FROM api_tokens WHERE account_id = $1')
const END_MESSAGES = statement("DELETE FROM outbox WHERE account_id = $1 AND kind = 'webhook'")
const HOLD_SESSION = locked(select(tables.sessions, 'WHERE id = $1'), 'FOR SHARE')
/** An id that no session has: ids begin at 1. */
const NO_SESSION = 0
const rowsIn = (table: SQLiteTable) => statement(`DELETE FROM ${getTableName(table)} WHERE account_id = $1`)
/** Rows of every table that names an account, except its links, which are ended above. */
const BELONGINGS = Object.values(tables)
  .filter((table) => 'accountId' in table && table !== tables.accountLinks)
  .map(rowsIn)
/** Removes the webhooks at a reset, because another person may have entered their URLs. */
const REMOVE_WEBHOOKS = rowsIn(tables.webhooks)
/**
 * Rows that are deleted when an account is reset: requests, because another person may know their links; and
 * events, with their mails.
 */
const FORMER = [
  statement("DELETE FROM outbox WHERE account_id = $1 AND kind = 'event_mail'"),
  ...[tables.requests, tables.events].map(rowsIn),
]

/** The timeout for detaching all pushes of an account in one step: ten thousand take about a second. */
export const DISOWNING = { within: 120_000 }

export function createAccounts({ steps: { read, write }, now }: Pick<Parts, 'steps' | 'now'>) {
  /** Returns null for an address with U+0000, which PostgreSQL refuses in a text. */
  const findRow = async (email: string): Promise<AccountRow | null> =>
    email.includes('\0') ? null : read(() => first(BY_EMAIL, email))

  async function findAccount(email: string): Promise<Account | null> {
    const row = await findRow(email)
    return row && presentAccount(row)
  }

  async function findCredentials(email: string): Promise<Credentials | null> {
    const row = await findRow(email)
    return row && presentCredentials(row)
  }

  async function findById(id: number): Promise<Account | null> {
    const row = await read(
      () => first(FIND, id),
      (found) => found !== null && found.disabledAt === null,
    )
    return row && presentAccount(row)
  }

  function* disable(id: number, keepAdmin: boolean): Step<void> {
    if (keepAdmin) yield* requireOtherAdmin(id)
    yield* run(DISABLE, id, now())
    yield* run(END_SESSIONS, id, NO_SESSION)
    yield* run(END_LINKS_FOR, id)
    yield* run(END_LINKS_BY, id)
    yield* run(END_MESSAGES, id)
  }

  function* setAdmin({ id, isAdmin }: { id: number; isAdmin: boolean }): Step<void> {
    if (!isAdmin) yield* requireOtherAdmin(id)
    yield* run(SET_ADMIN, id, isAdmin)
    if (!isAdmin) yield* run(END_LINKS_BY, id)
  }

  function* remove(id: number): Step<void> {
    yield* lockAccount(id, { alone: true })
    for (const belongings of BELONGINGS) yield* run(belongings, id)
    yield* run(END_LINKS_FOR, id)
    yield* run(END_LINKS_BY, id)
    yield* disown(id)
    yield* run(REMOVE, id)
  }

  return {
    /** Throws `conflict` when the address has an account. */
    addAccount: (account: NewAccount) =>
      write(() => insertAccount({ ...account, createdAt: now() }), { grows: true }).then(presentAccount),
    findAccount,
    findCredentials,
    findById,
    listAccounts: async () => (await read(() => all(LIST))).map(presentAccount),
    /**
     * Sets a password and ends the links for the account. Throws `unauthenticated` if `keepSession` has ended
     * meanwhile.
     */
    setPasswordHash: (password: NewPassword) => write(() => replacePassword(password)),
    /**
     * Replaces the hash of the same password: sessions, links and tokens stay. Returns false when the
     * password has changed since `tested`.
     */
    rehashPassword: ({ id, tested, passwordHash }: { id: number; tested: string; passwordHash: string }) =>
      write(() => affected(REHASH, id, tested, passwordHash)),
    /**
     * Disables or enables an account. Disabling ends its sessions, the links by and for it, and the waiting
     * messages of its webhooks. With `keepAdmin`, throws `conflict` for the last administrator.
     */
    setDisabled: ({
      id,
      disabled,
      keepAdmin = false,
    }: {
      id: number
      disabled: boolean
      keepAdmin?: boolean
    }) => write(() => (disabled ? disable(id, keepAdmin) : run(ENABLE, id))),
    /**
     * Makes an account an administrator, or demotes it and ends the links that it made. Throws `conflict` for
     * the last administrator.
     */
    setAdmin: (change: { id: number; isAdmin: boolean }) => write(() => setAdmin(change)),
    /** Marks an account whose API tokens never pause. */
    setService: ({ id, isService }: { id: number; isService: boolean }) =>
      write(() => run(SET_SERVICE, id, isService)),
    /** Removes some pushes of an account and resolves to their number, 0 when none is left. */
    removePushesOf: (id: number) => removeSomeOf(id, { write, at: now() }),
    /** Removes the account with its API tokens. It must own no pushes. */
    removeAccount: (id: number) => write(() => remove(id), DISOWNING),
  }
}

/** Returns what a sign-in needs of an account. */
export function presentCredentials(row: AccountRow): Credentials {
  const { passwordHash, totpSecret, totpStep } = row
  return { account: presentAccount(row), passwordHash, totpSecret, totpStep }
}

/** The account without its credentials. */
export function presentAccount(row: AccountRow): Account {
  const { id, email, isAdmin, disabledAt, createdAt, totpSecret, resets, passwordHash, isService } = row
  const { passkeys } = row
  const hasAuthenticator = totpSecret !== null
  return {
    ...{ id, email, isAdmin, disabledAt, createdAt, resets, passkeys, hasAuthenticator },
    ...{ hasTwoFactor: hasAuthenticator || passkeys > 0 },
    ...{ hasPassword: passwordHash !== NO_PASSWORD, isService },
  }
}

type AccountToInsert = NewAccount &
  Pick<Account, 'createdAt'> &
  Partial<Pick<AccountRow, 'disabledAt' | 'totpStep'>>

/** Throws `conflict` if the address has an account, even one that another node is just adding. */
export function* insertAccount(account: AccountToInsert): Step<AccountRow> {
  const row = yield* insert({ lastSignInAt: 0, resets: 0, isService: false, passkeys: 0, ...account })
  if (row === null) throw conflict(`There is an account for ${account.email} already.`)
  return row
}

/** Finds an existing account for an import. */
export function* findForImport(email: string): Step<Pick<Account, 'id' | 'isAdmin'> | null> {
  return yield* first(BY_EMAIL, email)
}

/**
 * Locks an account until the transaction ends: no other step changes it, or adds sessions, links or tokens.
 * Pushes can still be created for it, unless `alone` is set, which also waits for creates under way.
 */
export function lockAccount(id: number, { alone = false } = {}): Step<AccountRow | null> {
  return first(alone ? LOCK_ALONE : LOCK, id)
}

export function findOwner(id: number): Step<AccountRow | null> {
  return first(FIND, id)
}

/** Prevents, until the transaction ends, that an account is removed or reset. */
export function holdOwner(id: number): Step<AccountRow | null> {
  return first(SHARE, id)
}

/** Throws `unauthenticated` if the account was disabled or reset after its token was checked. */
export function* requireActive(id: number, resets: number): Step<void> {
  const account = yield* holdOwner(id)
  if (account === null || account.disabledAt !== null || account.resets !== resets) throw inactiveAccount()
}

/**
 * Ends every session of the account except `keepSession`. Throws `unauthenticated` if that one has ended,
 * because then the password was changed, and the session of the former password must not set another.
 */
function* replacePassword({ id, passwordHash, keepSession = null, revoke = false }: NewPassword): Step<void> {
  yield* lockAccount(id)
  if (keepSession !== null && !(yield* has(HOLD_SESSION, keepSession))) throw inactiveAccount()
  yield* run(SET_PASSWORD, id, passwordHash)
  yield* run(END_SESSIONS, id, keepSession ?? NO_SESSION)
  yield* run(END_LINKS_FOR, id)
  if (!revoke) return
  for (const made of [REVOKE_TOKENS, UNBIND, DEMOTE_PASSKEYS, END_LINKS_BY, END_MESSAGES, REMOVE_WEBHOOKS])
    yield* run(made, id)
}

/**
 * Sets a password by a reset link. The administrator who made the link could have used it, so the account
 * loses its tokens, requests, events and webhooks, its pushes become anonymous, and requests that were
 * authenticated with the old password are refused. Returns null if there is no such account.
 */
export function* startAnew(id: number, passwordHash: string): Step<AccountRow | null> {
  const row = yield* lockAccount(id)
  if (row === null) return null
  yield* replacePassword({ id, passwordHash, revoke: true })
  const resets = row.resets + 1
  yield* run(SET_RESETS, id, resets)
  for (const former of FORMER) yield* run(former, id)
  yield* disown(id)
  return { ...row, passwordHash, resets }
}

function* requireOtherAdmin(id: number): Step<void> {
  const admins = yield* all(LOCK_ADMINS)
  if (admins.every((admin) => admin.id === id)) throw conflict('This is the last administrator.')
}
