// Looks at a PostgreSQL server and the database in it for a report, whether or not a node runs. Changes nothing.

import type { NodeReport } from '../database-face.ts'
import type { NodeNote } from '../folder/notes.ts'
import type { Session } from './engine/lanes.ts'
import {
  type Connect,
  findServerProblems,
  onOwnConnection,
  SCHEMA,
  SERVER_FACTS,
  type ServerFacts,
} from './engine/session.ts'
import { DATABASE_TIME, findRefusal, listNodes, readInstance } from './instance/instance.ts'
import type { SchemaVersion } from './schema/migrate.ts'

export type DatabaseInspection = {
  /** Such as `15.6`. */
  version: string
  /** Why the server cannot be used; whole sentences. */
  problems: string[]
  /** Whether this connection is encrypted. */
  isEncrypted: boolean
  bytes: number
  /** The server's clock minus that of this machine, and how far that may be wrong. Milliseconds. */
  clock: { offset: number; uncertainty: number }
  /** Whether its log has the values of statements, which hold sealed keys and payloads. */
  logsValues: boolean
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

export type InspectionOptions = {
  connect: Connect
  /** Of the data folder; null for a new folder. */
  note: NodeNote | null
  /** The clock of this machine. */
  now: () => number
}

/** Throws the cause when the server cannot be reached. */
export function inspectPostgres(options: InspectionOptions): Promise<DatabaseInspection> {
  return onOwnConnection(options.connect, (session) => {
    const query: Session['query'] = (text, values = []) => session.unsafe(text, [...values])
    return inspectWithin({ query }, options)
  })
}

async function inspectWithin(session: Session, options: InspectionOptions) {
  const clock = await compareClocks(session, options.now)
  const [facts] = await session.query<ServerFacts>(SERVER_FACTS)
  const [row] = await session.query<Row>(SERVER)
  if (facts === undefined || row === undefined) throw new Error('PostgreSQL said nothing about itself')
  const { isEncrypted, bytes, logsValues } = row
  const [found] = await session.query<{ isThere: boolean }>(
    `SELECT to_regclass('${SCHEMA}.instance') IS NOT NULL AS "isThere"`,
  )
  const isThere = found?.isThere === true
  return {
    version: facts.version,
    problems: findServerProblems(facts),
    isEncrypted,
    bytes,
    logsValues,
    clock,
    instance: isThere ? await inspectInstance(session, options) : null,
  }
}

type Row = {
  isEncrypted: boolean
  bytes: number
  logsValues: boolean
}

const SERVER = `SELECT coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS "isEncrypted",
    pg_database_size(current_database())::float8 AS bytes,
    (current_setting('log_statement') IN ('mod', 'all') OR (SELECT setting FROM pg_settings WHERE name = 'log_min_duration_statement') <> '-1')
      AND current_setting('log_parameter_max_length', true) IS DISTINCT FROM '0' AS "logsValues"`

/** Takes the quickest of three looks: the less time a look takes, the less its way there and its way back can differ. */
async function compareClocks({ query }: Session, now: () => number) {
  let best = { offset: 0, uncertainty: Number.POSITIVE_INFINITY }
  for (let look = 0; look < 3; look += 1) {
    const begun = now()
    const [row] = await query<{ time: number }>(`SELECT ${DATABASE_TIME} AS time`)
    const uncertainty = (now() - begun) / 2
    if (uncertainty < best.uncertainty) best = { offset: (row?.time ?? 0) - begun - uncertainty, uncertainty }
  }
  return best
}

async function inspectInstance(session: Session, { note }: InspectionOptions): Promise<InstanceInspection> {
  const node = note === null ? null : Buffer.from(note.node, 'hex')
  const state = await readInstance(session, { node })
  const { clockMark, clockDoubted, version, compatibleFrom } = state
  return {
    ...{ version, compatibleFrom, clockMark, clockDoubted },
    refusal: findRefusal(state, note, false),
    nodes: await listNodes(session, null),
  }
}
