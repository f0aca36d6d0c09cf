// Looks at a PostgreSQL server and the database in it for a report, whether or not a node runs. Changes nothing.

import type { NodeReport } from '../database-face.ts'
import type { NodeNote } from '../folder/notes.ts'
import {
  type Connect,
  findServerProblems,
  onOwnConnection,
  SCHEMA,
  SERVER_FACTS,
  type ServerFacts,
  type Session,
  sessionOver,
} from './engine/session.ts'
import { DATABASE_TIME, findRefusal, listNodes, readInstance } from './instance/instance.ts'
import type { SchemaVersion } from './schema/migrate.ts'

type Server = {
  /** Such as `15.6`. */
  version: string
  /** Whether this connection is encrypted. */
  isEncrypted: boolean
  bytes: number
  /** Its clock, in milliseconds since 1970. */
  time: number
  /** Whether its log has the values of statements, which hold sealed keys and payloads. */
  logsValues: boolean
}

export type DatabaseInspection = Server & {
  /** Why the server cannot be used; whole sentences. */
  problems: string[]
  /** Null without our tables. */
  instance: InstanceInspection | null
}

export type InstanceInspection = SchemaVersion & {
  /** Why the node of this data folder would refuse to serve; whole sentences. */
  refusal: string | null
  clockMark: number
  clockDoubted: number | null
  nodes: NodeReport[]
}

/** `note` is of the data folder, null for a new one. Throws the cause when the server cannot be reached. */
export function inspectPostgres(connect: Connect, note: NodeNote | null): Promise<DatabaseInspection> {
  return onOwnConnection(connect, async (connection) => {
    const session = sessionOver(connection)
    const [found] = await session.query<Server & ServerFacts & { hasTables: boolean }>(SERVER)
    if (found === undefined) throw new Error('PostgreSQL said nothing about itself')
    const instance = found.hasTables ? await inspectInstance(session, note) : null
    return { ...found, problems: findServerProblems(found), instance }
  })
}

const SERVER = `SELECT ${SERVER_FACTS}, to_regclass('${SCHEMA}.instance') IS NOT NULL AS "hasTables", ${DATABASE_TIME} AS time,
    coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
    pg_database_size(current_database()) AS bytes,
    (current_setting('log_statement') IN ('mod', 'all') OR (SELECT setting FROM pg_settings WHERE name = 'log_min_duration_statement') <> '-1')
      AND current_setting('log_parameter_max_length', true) IS DISTINCT FROM '0' AS "logsValues"`

async function inspectInstance(session: Session, note: NodeNote | null): Promise<InstanceInspection> {
  const node = note === null ? null : Buffer.from(note.node, 'hex')
  const state = await readInstance(session, { node })
  const refusal = findRefusal(state, note, false)
  return { ...state, refusal, nodes: await listNodes(session, null) }
}
