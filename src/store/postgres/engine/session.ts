// The session settings of each connection to PostgreSQL, and three checks of a server before a node trusts
// it.

import type { ReservedSQL, SQL } from 'bun'
import { conflict } from '../../../domain/errors.ts'

/** Opens a pool of at most `max` connections. `onClose` is called when a connection is lost. */
export type Connect = (max: number, onClose?: () => void) => SQL

/** The schema that holds the tables. */
export const SCHEMA = 'oncebox'

/** The default timeout of an answer. The server cancels a statement a little earlier. */
export const ANSWER_MS = 3500

/**
 * A connection, within a transaction or for one read. Parameters are $1, $2, …; a parameter may be an array.
 */
export type PostgresSession = { query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]> }

/**
 * Makes a session over a connection. Sends each query at once, because Bun would wait until it is awaited,
 * and BEGIN has to be sent first. Returns ids, times and sizes as numbers, because they stay far below 2^53.
 */
export function sessionOver(connection: Pick<SQL, 'unsafe'>): PostgresSession {
  return {
    query: async (text, values = []) => {
      const rows = await connection.unsafe(text, [...values]).execute()
      readNumbers(rows)
      return rows
    },
  }
}

function readNumbers(rows: Record<string, unknown>[]): void {
  for (const row of rows)
    for (const name in row) if (typeof row[name] === 'bigint') row[name] = Number(row[name])
}

/**
 * Settings of every connection. The promises rest on them, so they override those of the server, the user and
 * the address.
 */
const SESSION_SETTINGS = {
  application_name: 'oncebox',
  // The path also keeps functions that other users have created from being called.
  search_path: SCHEMA,
  // Answer a commit only once it is on disk.
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  statement_timeout: String(ANSWER_MS - 500),
  lock_timeout: '2000',
  // End the transaction of a node that was frozen or disconnected, which frees its locks.
  idle_in_transaction_session_timeout: String(ANSWER_MS + 500),
  plan_cache_mode: 'force_generic_plan',
  // Plans would be made once for each connection, perhaps while a table is empty, and still be used when it
  // has grown.
  enable_seqscan: 'off',
  jit: 'off',
  timezone: 'UTC',
  // Fail if row-level security would hide rows: with some rows missing, pushes would look purged, or would
  // not expire.
  row_security: 'off',
} as const

/** Options of Bun's client. */
export const CLIENT_OPTIONS = { connection: SESSION_SETTINGS, bigint: true }

/** A timeout. Its code is like Bun's codes for a lost connection. */
class SilenceError extends Error {
  readonly code = 'ERR_POSTGRES_CONNECTION_STALLED'

  constructor() {
    super('PostgreSQL did not answer in time')
  }
}

export function reserveWithin(pool: SQL, milliseconds: number): Promise<ReservedSQL> {
  return pool.reserve({ signal: AbortSignal.timeout(milliseconds) }).catch((cause) => {
    throw cause instanceof DOMException ? new SilenceError() : cause
  })
}

/** Runs `work` on its own connection, whose end also frees its locks. */
export async function onOwnConnection<T>(connect: Connect, work: (session: SQL) => Promise<T>): Promise<T> {
  const pool = connect(1)
  try {
    return await work(await reserveWithin(pool, OPEN_MS))
  } finally {
    await pool.close({ timeout: 0 })
  }
}

const OPEN_MS = 8000

type ServerFacts = {
  /** The version as the server writes it, such as `15.6`. */
  version: string
  versionNumber: number
  isStandby: boolean
  fsync: boolean
}

/** The columns of `ServerFacts`, for a SELECT. */
const SERVER_FACTS = `current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
    pg_is_in_recovery() AS "isStandby", current_setting('fsync')::bool AS fsync`

const OLDEST_VERSION = 13_00_00

/** Finds why this server cannot be trusted with data, a sentence each. */
export function findServerProblems({ version, versionNumber, isStandby, fsync }: ServerFacts): string[] {
  return [
    ...(versionNumber < OLDEST_VERSION
      ? [`PostgreSQL ${version} is too old. Upgrade the server to version 13 or later.`]
      : []),
    ...(isStandby ? [STANDBY] : []),
    ...(fsync ? [] : [NO_FSYNC]),
  ]
}

const STANDBY = 'The server is a standby, which can only be read. Name the primary in --database-url.'

const NO_FSYNC =
  'The server has fsync = off: after a power cut it would forget what was acknowledged and give secrets out again. Set fsync = on.'

/** Throws `conflict` when the server cannot be trusted, and the cause when it cannot be reached. */
export function requireServer(connect: Connect): Promise<void> {
  return onOwnConnection(connect, async (session) => {
    const problems = findServerProblems((await session.unsafe(`SELECT ${SERVER_FACTS}`))[0])
    if (problems.length > 0) throw conflict(problems.join(' '))
  })
}
