// Migrates the tables to the version of this program. While one node migrates, the others wait. An older node
// can still use newer tables if they are compatible, so that nodes can be upgraded one after another.

import type { SQL } from 'bun'
import { conflict } from '../../domain/errors.ts'
import { MINUTE, SECOND } from '../../domain/time.ts'
import firstIndexes from '../migrations/0001-indexes.sql' with { type: 'text' }
import firstTables from '../migrations/0001-postgres.sql' with { type: 'text' }
import secondIndexes from '../migrations/0002-indexes.sql' with { type: 'text' }
import secondTables from '../migrations/0002-postgres.sql' with { type: 'text' }
import { stateOf } from './engine/failures.ts'
import { type Connect, onOwnConnection, SCHEMA } from './engine/session.ts'
import firstNodes from './migrations/0001-nodes.sql' with { type: 'text' }

/** A step, and the lowest version of the program's schema that may serve the tables after it. */
export type Migration = { sql: string; compatibleFrom: number }

/** A migration that was released never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { sql: firstTables + firstIndexes + firstNodes, compatibleFrom: 1 },
  { sql: secondTables + secondIndexes, compatibleFrom: 1 },
]

/** The schema of a database; both are 0 without tables of Oncebox. */
export type SchemaVersion = { version: number; compatibleFrom: number }

type MigrateOptions = {
  connect: Connect
  migrations?: readonly Migration[]
  /** Milliseconds to wait for another node that migrates. */
  patience?: number
}

/** The timeout of a lock on a table: queries of other nodes queue behind it. */
const TABLE_MS = 5 * SECOND
/** "ONCEBOX" in ASCII, as a number that names a lock in the whole database. */
const LOCK = '22322573991890776'

/**
 * Migrates the tables. Throws `conflict`, without changing anything, for a database of another program or of
 * a newer Oncebox.
 */
export function migrate(options: MigrateOptions): Promise<void> {
  const { connect, migrations = MIGRATIONS, patience = MINUTE } = options
  return onOwnConnection(connect, async (session) => {
    if ((await requireServable(session, migrations)).version >= migrations.length) return
    await session.unsafe(`SET statement_timeout = 0; SET lock_timeout = ${patience}; BEGIN`).simple()
    try {
      await session.unsafe(`SELECT pg_advisory_xact_lock(${LOCK})`)
      await session.unsafe(`SET LOCAL lock_timeout = ${Math.min(patience, TABLE_MS)}`)
      await takePending(session, migrations)
      await session.unsafe('COMMIT').simple()
    } catch (cause) {
      throw stateOf(cause) === '55P03' ? conflict(IN_USE) : cause
    }
  })
}

const IN_USE =
  'The database could not be migrated, because another node migrates it, or something uses its tables (such as a backup). ' +
  'Nothing was changed; start again later.'

async function takePending(session: SQL, migrations: readonly Migration[]): Promise<void> {
  const { version } = await requireServable(session, migrations)
  if (version === 0) {
    await refuseForeign(session)
    await session.unsafe(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`)
  }
  for (const [index, { sql, compatibleFrom }] of migrations.entries()) {
    if (index < version) continue
    const note = `INSERT INTO schema_versions (version, compatible_from) VALUES (${index + 1}, ${compatibleFrom})`
    await session.unsafe(`${sql};\n${note}`).simple()
  }
}

/** Tables that belong to extensions are allowed. */
async function refuseForeign(session: SQL): Promise<void> {
  const [foreign] = await session.unsafe(
    `SELECT nspname || '.' || relname AS name, current_database() AS database
     FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE relkind IN ('r', 'p') AND nspname !~ '^(pg_|information_schema$)' AND NOT EXISTS (
       SELECT 1 FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
     ORDER BY 1 LIMIT 1`,
  )
  if (foreign === undefined) return
  throw conflict(
    `The database ${foreign.database} holds no Oncebox data but other tables (such as ${foreign.name}). Make an empty ` +
      'database for Oncebox alone, and name it with --database-url.',
  )
}

export async function readSchemaVersion(session: Pick<SQL, 'unsafe'>): Promise<SchemaVersion> {
  const [found] = await session.unsafe(
    `SELECT to_regclass('${SCHEMA}.schema_versions') IS NOT NULL AS is_there`,
  )
  if (!found.is_there) return { version: 0, compatibleFrom: 0 }
  const [row] = await session.unsafe(
    'SELECT max(version) AS version, max(compatible_from) AS "compatibleFrom" FROM schema_versions',
  )
  return { version: row.version, compatibleFrom: row.compatibleFrom }
}

/** Whether the database holds data of Oncebox, of any version. */
export function hasTables(connect: Connect): Promise<boolean> {
  return onOwnConnection(connect, async (session) => (await readSchemaVersion(session)).version > 0)
}

/** Finds why a program with this many migrations may not serve such tables; null when it may. */
export function findSchemaProblem(found: SchemaVersion, known = MIGRATIONS.length): string | null {
  if (found.version <= known || found.compatibleFrom <= known) return null
  return (
    `The database was migrated by a newer Oncebox (its schema is version ${found.version}, which can be served from version ` +
    `${found.compatibleFrom} on; this Oncebox knows ${known}). Run that one.`
  )
}

/** Throws `conflict` when a program with these migrations may not serve the tables. */
async function requireServable(
  session: Pick<SQL, 'unsafe'>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaVersion> {
  const found = await readSchemaVersion(session)
  const problem = findSchemaProblem(found, migrations.length)
  if (problem !== null) throw conflict(problem)
  return found
}

/** Throws unless the schema is this version's. Called by commands beside the servers, which never migrate. */
export async function requireCurrentSchema(session: Pick<SQL, 'unsafe'>): Promise<void> {
  const { version } = await requireServable(session)
  if (version >= MIGRATIONS.length) return
  throw conflict(
    version === 0
      ? 'The database holds no Oncebox data. Start "oncebox serve" once, or name the right database with --database-url.'
      : 'The database was written by an older Oncebox. Start "oncebox serve" once to bring it up to date.',
  )
}
