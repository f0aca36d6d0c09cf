// Facts about the instance in its database: the keys that it was written with, the time of its last use, and where it is.

import type { Session } from '../engine/database.ts'
import { serverText } from '../engine/server-text.ts'
import { UNLOGGED } from '../engine/unlogged.ts'
import type { SchemaVersion } from '../schema/schema-version.ts'
import type { DatabaseTime } from './clock.ts'

/** The row of the instance, and what the server says of itself. */
export type InstanceState = DatabaseTime &
  SchemaVersion & {
    tag: string
    beats: number
    restoredAt: number
    /** Where it was when it was last served. */
    place: string | null
    /** Where it is now: other clusters, databases, restored tables and timelines have others. */
    here: string
    /** Whether a commit survives a crash of the server: an operator may switch that off, for it or a table, while nodes run. */
    isLasting: boolean
    /** `synchronous_standby_names`: a transaction that is acknowledged has waited for those. */
    standbyNames: string
    /** Why nothing may be served; a whole sentence. */
    halted: string | null
    /** Of the operations that were asked for, those that are there, in hex. */
    operations: string[]
  }

/** The server's clock in whole milliseconds since 1970. */
export const DATABASE_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8'

/** The last part is the timeline, which a standby that takes over and a recovery to a point in time count up. */
const HERE = `(SELECT system_identifier FROM pg_control_system())
  || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
  || '/' || 'instance'::regclass::oid
  || '/' || CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END`

/** Older nodes ask this too before they know whether they may serve the tables: keep these columns in each later schema. */
const LOOK = `SELECT tag::text AS tag, beats::float8 AS beats, restored_at::float8 AS "restoredAt", place, ${HERE} AS here, halted,
    clock_mark::float8 AS "clockMark", clock_doubted::float8 AS "clockDoubted", ${DATABASE_TIME} AS time,
    current_setting('fsync') = 'on' AND cardinality(${UNLOGGED}) = 0 AS "isLasting",
    current_setting('synchronous_standby_names') AS "standbyNames",
    (SELECT max(version) FROM schema_versions) AS version,
    (SELECT max(compatible_from) FROM schema_versions) AS "compatibleFrom",
    ARRAY(SELECT encode(operations.id, 'hex') FROM operations
      WHERE operations.id = ANY($1::bytea[]) AND NOT is_void) AS operations
  FROM instance`

/** `operations`: ids in hex of transactions to look for. `lock`: no other node changes the row until the transaction ends. */
export async function readInstance(
  { query }: Pick<Session, 'query'>,
  { operations = [], lock = false }: { operations?: readonly string[]; lock?: boolean } = {},
): Promise<InstanceState> {
  const ids = operations.map((id) => Buffer.from(id, 'hex'))
  const [state] = await query<InstanceState>(lock ? `${LOOK} FOR UPDATE OF instance` : LOOK, [ids])
  if (state === undefined) throw new Error('the table instance of the database is empty')
  return state.halted === null ? state : { ...state, halted: serverText(state.halted) }
}

/** Within a transaction: no node serves the database any more, once it has noticed. `why` is a whole sentence for operators. */
export async function haltNodes({ query }: Pick<Session, 'query'>, why: string): Promise<void> {
  await query('UPDATE instance SET halted = $1', [why])
}
