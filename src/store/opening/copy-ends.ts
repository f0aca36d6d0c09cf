// Opens the two ends of a copy, source and target: a data folder, and a PostgreSQL database. Each end runs
// the copy in one transaction without concurrent access, and can continue the numbering of ids.

import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { conflict, isDomainError } from '../../domain/errors.ts'
import { DAY } from '../../domain/time.ts'
import { printableLine } from '../../text/printable.ts'
import { TABLE_NAMES } from '../copy/content.ts'
import type { CopyEnd, LastId } from '../copy/copy.ts'
import { dataFolder, prepareDataFolder, requireDataFolder } from '../folder/data-folder.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { stateOf } from '../postgres/engine/failures.ts'
import { createAlone } from '../postgres/engine/run-steps.ts'
import { type PostgresSession, SCHEMA } from '../postgres/engine/session.ts'
import { refuseBesideNodes } from '../postgres/instance/instance.ts'
import { openDatabase, requireIntact } from '../sqlite/database.ts'
import { requireHome, takeLog } from '../sqlite/home.ts'
import { migrate, requireCurrentSchema } from '../sqlite/migrate.ts'
import { BUSY_MS } from '../sqlite/run-steps.ts'
import { statement } from '../statements.ts'
import { type Alone, all, first, run, type Step } from '../steps.ts'
import { operate } from './folder-database.ts'
import { openTables } from './server-database.ts'

type FolderEndOptions = {
  /** Whether to create a missing folder, key and database: for the target. */
  create: boolean
  keyFile: string
  onWarning: (warning: string) => void
}

/** Throws `conflict` for a folder that is being served, or that is a copy. */
export async function openFolderEnd(
  dataDir: string,
  { create, keyFile, onWarning }: FolderEndOptions,
): Promise<CopyEnd> {
  const folder = dataFolder(dataDir)
  const name = printableLine(folder.path)
  if (create) prepareDataFolder(folder, keyFile)
  else requireDataFolder(folder)
  const { release } = await lockFolder(folder, { onWarning })
  let close = async () => release()
  try {
    const isLogLost = takeLog(folder)
    const database = openDatabase(folder.database, { create, busyTimeout: BUSY_MS })
    const opened = operate(database, release)
    close = opened.close
    requireIntact(database)
    if (create) migrate(database)
    requireCurrentSchema(database)
    await requireHome(database, { folder, isLogLost, acceptMove: false, onWarning })
    const alone: Alone = async (work) => {
      const copying = opened.alone((run) => {
        // Tables may refer to rows that are copied later.
        database.run('PRAGMA defer_foreign_keys = ON')
        return work(run)
      })
      return copying.catch((cause) => {
        throw isDomainError(cause, 'disk_full') ? conflict(`The disk of ${name} is full: make room.`) : cause
      })
    }
    const ids = { lastIds: LAST_IDS, continueAfter: continueInFolder }
    return { name, alone, close, ...ids }
  } catch (cause) {
    await close()
    throw explainFailure(folder.database, cause)
  }
}

/** Selects the largest id that each table ever assigned, because ids are never reused. */
const LAST_IDS = statement<LastId>('SELECT name AS "table", seq AS last FROM sqlite_sequence')
const FORGET_LAST = statement('DELETE FROM sqlite_sequence WHERE name = $1')
const WRITE_LAST = statement('INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)')

function* continueInFolder(ids: readonly LastId[]): Step<void> {
  for (const { table, last } of ids) {
    yield* run(FORGET_LAST, table)
    yield* run(WRITE_LAST, table, last)
  }
}

/** Throws `conflict` for a server that cannot be used, and for a database of another program. */
export async function openServerEnd(address: DatabaseAddress, create: boolean): Promise<CopyEnd> {
  const { transact, close } = await openTables(address, create)
  const name = printableLine(presentDatabaseAddress(address))
  return {
    ...{ name, close },
    ...{ lastIds: LAST_SERVER_IDS, continueAfter: continueOnServer },
    alone: createAlone({ transact, enter: (session) => lockAll(session, name), within: DAY }),
  }
}

/** Waits for running transactions, and keeps nodes and commands from starting new ones. */
const LOCK = `LOCK TABLE instance, nodes, bucket_folder, ${TABLE_NAMES.join(', ')} IN EXCLUSIVE MODE`
const LOCK_TIMED_OUT = '55P03'

/**
 * Refuses while nodes serve the database, then locks its tables. Run the check first, because it has
 * parameters: Bun sends a statement without parameters before the BEGIN.
 */
async function lockAll(session: PostgresSession, name: string): Promise<void> {
  await refuseBesideNodes(session, null)
  await session.query(LOCK).catch((cause) => {
    throw stateOf(cause) === LOCK_TIMED_OUT ? conflict(`${name} ${IN_USE}`) : cause
  })
}

const IN_USE = 'is used by another command, such as a second copy: try again when that has ended.'

const LAST_SERVER_IDS = statement<LastId>(
  `SELECT name AS "table", coalesce(pg_sequence_last_value(pg_get_serial_sequence(name, 'id')::regclass), 0) AS last
    FROM unnest(ARRAY['accounts', 'pushes']) AS name`,
)
const IDENTITIES = statement<{ table: string; column: string }>(
  `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
    WHERE table_schema = '${SCHEMA}' AND is_identity = 'YES'`,
)

function* continueOnServer(ids: readonly LastId[]): Step<void> {
  for (const { table, column } of yield* all(IDENTITIES)) {
    const largest = `greatest((SELECT max(${column}) FROM ${table}), $1::bigint, 1)`
    const set = statement(`SELECT setval(pg_get_serial_sequence('${table}', '${column}'), ${largest})`)
    yield* first(set, ids.find((one) => one.table === table)?.last ?? 0)
  }
}
