// The settings of each connection, on which the promises of Oncebox rest, whatever the server, the user and the address say.

import type { Session } from './database.ts'
import { SCHEMA } from './schema-name.ts'
import { ANSWER_MS } from './transaction.ts'

const SETTINGS: Record<string, string> = {
  application_name: 'oncebox',
  // A commit is answered once it is on disk, and on the synchronous standbys.
  synchronous_commit: 'on',
  default_transaction_isolation: 'read committed',
  // The server gives a statement up before this side gives up the connection.
  statement_timeout: String(ANSWER_MS - 500),
  lock_timeout: '2000',
  // Ends the transaction of a node that was cut off, which frees its locks.
  idle_in_transaction_session_timeout: String(ANSWER_MS + 500),
  idle_session_timeout: '0',
  transaction_timeout: '0',
  client_connection_check_interval: '1000',
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '15000',
  plan_cache_mode: 'force_generic_plan',
  // The plans are made once for each connection, perhaps while a table is empty, and are used when it has grown.
  enable_seqscan: 'off',
  jit: 'off',
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  // Arrays of parameters hold NULL, and numbers come back exactly.
  array_nulls: 'on',
  extra_float_digits: '1',
  // A policy that hides rows fails the statement: with a part of the rows, pushes would look purged, or not be expired.
  row_security: 'off',
  search_path: SCHEMA,
}

/** Settings that this version of the server does not know are left out. */
const APPLY = `SELECT set_config(wanted.name,
    CASE WHEN wanted.name = 'synchronous_commit' AND setting = 'remote_apply' THEN setting ELSE wanted.value END, false)
  FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
  JOIN pg_settings ON lower(pg_settings.name) = lower(wanted.name)`

export async function applySettings(session: Session): Promise<void> {
  await session.query(APPLY, [Object.keys(SETTINGS), Object.values(SETTINGS)])
}
