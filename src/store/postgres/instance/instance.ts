// Facts about the instance in its database: its name, the time of its last use, and where it is.

import type { explainCopy } from '../../copy/state.ts'
import type { Session } from '../engine/database.ts'
import type { SchemaVersion } from '../schema/schema-version.ts'
import type { DatabaseTime } from './clock.ts'

/** The row of the instance, and what the server says of itself. */
export type InstanceState = DatabaseTime &
  SchemaVersion & {
    /** What `oncebox copy` has written down. */
    copy: Parameters<typeof explainCopy>[0]
    tag: string
    /** When `expire-all` ran last, in milliseconds since 1970; 0 for never. */
    expiredAllAt: number
    /** Where it was served last; null when it never was. */
    place: string | null
    /** Where it is now: other clusters and databases have others. */
    here: string
  }

/** The server's clock in whole milliseconds since 1970. */
export const DATABASE_TIME = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::float8'

const HERE = `(SELECT system_identifier FROM pg_control_system())
  || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`

/** Older nodes ask this too before they know whether they may serve the tables: keep these columns in each later schema. */
const LOOK = `SELECT tag::text AS tag, expired_all_at::float8 AS "expiredAllAt", place, ${HERE} AS here,
    json_build_object('state', copy_state, 'other', copy_other) AS copy, clock_mark::float8 AS "clockMark", clock_doubted::float8 AS "clockDoubted", ${DATABASE_TIME} AS time,
    (SELECT max(version) FROM schema_versions) AS version,
    (SELECT max(compatible_from) FROM schema_versions) AS "compatibleFrom"
  FROM instance`

/** `lock`: no other node changes the row until the transaction ends. */
export async function readInstance(
  { query }: Pick<Session, 'query'>,
  { lock = false } = {},
): Promise<InstanceState> {
  const [state] = await query<InstanceState>(lock ? `${LOOK} FOR UPDATE OF instance` : LOOK)
  if (state === undefined) throw new Error('the table instance of the database is empty')
  return state
}
