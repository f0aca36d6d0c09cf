// Brings the tables to this version's schema. One node migrates, under an advisory lock, while the others wait. An older node
// goes on with tables that are newer but compatible, so that nodes can be upgraded one after another.

import type { SQL } from 'bun'
import { DomainError } from '../../../domain/errors.ts'
import { MINUTE, SECOND } from '../../../domain/time.ts'
import { LOCKS } from '../engine/advisory-locks.ts'
import type { Connect } from '../engine/connection.ts'
import { onOwnConnection } from '../engine/own-connection.ts'
import { SCHEMA } from '../engine/schema-name.ts'
import { MIGRATIONS, type Migration, requireServable } from './schema-version.ts'

export type MigrateOptions = {
  connect: Connect
  /** Is given a sentence for the operator. */
  onWarning: (warning: string) => void
  migrations?: readonly Migration[]
  /** Milliseconds to wait for a node that migrates, or for tables that are in use. */
  patience?: number
  /** Milliseconds that a step waits for a table in use. Queries of other nodes queue behind it meanwhile. */
  tableLockMs?: number
}

const PATIENCE_MS = 10 * MINUTE
const RETRY_MS = SECOND / 5
const TABLE_LOCK_MS = 5 * SECOND
const LOCK_TIMED_OUT = '55P03'

/** Throws `conflict`, and then nothing was changed, for a database of another program or of a newer Oncebox. */
export async function migrate(options: MigrateOptions): Promise<void> {
  const { connect, migrations = MIGRATIONS } = options
  await onOwnConnection(connect, async (session) => {
    await session.unsafe(`SET search_path = ${SCHEMA}`).simple()
    if ((await requireServable(session, migrations)).version >= migrations.length) return
    const tableLock = options.tableLockMs ?? TABLE_LOCK_MS
    await session.unsafe(`SET statement_timeout = 0; SET lock_timeout = ${tableLock}`).simple()
    const until = performance.now() + (options.patience ?? PATIENCE_MS)
    await lock(session, { until, onWarning: options.onWarning })
    await runPending(session, { migrations, until, onWarning: options.onWarning })
  })
}

type Waiting = { until: number; onWarning: (warning: string) => void }

async function lock(session: SQL, { until, onWarning }: Waiting): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const [row] = await session.unsafe(`SELECT pg_try_advisory_lock(${LOCKS.migration}) AS held`)
    if (row.held) return
    if (tries === 0) onWarning('Another node migrates the database: waiting for it to end.')
    if (performance.now() > until)
      throw new DomainError(
        'conflict',
        'Another node has been migrating the database for too long. Look at its log; if it hangs, end it and start again.',
      )
    await Bun.sleep(RETRY_MS)
  }
}

type Pending = Waiting & { migrations: readonly Migration[] }

async function runPending(session: SQL, { migrations, until, onWarning }: Pending): Promise<void> {
  let { version } = await requireServable(session, migrations)
  if (version === 0) await prepareSchema(session)
  while (version < migrations.length) {
    const step = migrations[version]
    if (step !== undefined && (await takeStep(session, { ...step, version: version + 1 }))) version += 1
    else if (performance.now() > until) throw new DomainError('conflict', TABLES_IN_USE)
    else onWarning('The migration waits for a table that is in use, and tries again.')
  }
}

const TABLES_IN_USE =
  'The database could not be migrated, because its tables were in use all the time (by a backup, for example). Nothing was ' +
  'changed; start again later.'

/** False when a table was in use; then nothing was changed. */
async function takeStep(session: SQL, step: Migration & { version: number }): Promise<boolean> {
  const note = `INSERT INTO schema_versions (version, compatible_from) VALUES (${step.version}, ${step.compatibleFrom})`
  try {
    await session.unsafe(`BEGIN;\n${step.sql}\n;${note};\nCOMMIT`).simple()
    return true
  } catch (cause) {
    await session.unsafe('ROLLBACK').simple()
    if (cause instanceof Error && 'errno' in cause && cause.errno === LOCK_TIMED_OUT) return false
    throw cause
  }
}

async function prepareSchema(session: SQL): Promise<void> {
  await refuseForeign(session)
  if (await hasSchema(session)) await refuseForeignSchema(session)
  else await session.unsafe(`CREATE SCHEMA ${SCHEMA}`).simple()
}

/** A schema that was made beforehand spares its owner the right to make schemas. */
async function hasSchema(session: SQL): Promise<boolean> {
  const [found] = await session.unsafe(`SELECT to_regnamespace('${SCHEMA}') IS NOT NULL AS is_there`)
  return found.is_there
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
  throw new DomainError(
    'conflict',
    `The database ${foreign.database} holds no Oncebox data but other tables (such as ${foreign.name}). Make an empty ` +
      'database for Oncebox alone, and name it with --database-url.',
  )
}

/** The owner of the schema can drop our tables, and add functions that run with our rights. A superuser can in any case. */
async function refuseForeignSchema(session: SQL): Promise<void> {
  const [foreign] = await session.unsafe(
    `SELECT rolname AS owner, current_user AS we FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner
     WHERE nspname = '${SCHEMA}' AND NOT pg_has_role(nspowner, 'USAGE')
       AND NOT (rolsuper AND has_schema_privilege(nspname, 'CREATE') AND has_schema_privilege(nspname, 'USAGE'))`,
  )
  if (foreign === undefined) return
  throw new DomainError(
    'conflict',
    `The schema ${SCHEMA} belongs to another user of the database (${JSON.stringify(foreign.owner)}). Give it to the user of ` +
      `--database-url (ALTER SCHEMA ${SCHEMA} OWNER TO ${JSON.stringify(foreign.we)}), or make an empty database for Oncebox alone.`,
  )
}
