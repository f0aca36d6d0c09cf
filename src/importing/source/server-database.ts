// Reads the database of another server from PostgreSQL, MySQL or MariaDB, with Bun's client: over one
// connection, in one read-only transaction with a single snapshot.

import { SQL } from 'bun'
import { type DatabaseAddress, presentDatabaseAddress } from '../../domain/database-address.ts'
import { databaseClientOptions, type ReadFile } from '../../store/postgres/client-options.ts'
import type { ForeignDatabase, Row } from './foreign-database.ts'
import { explainServer } from './server-errors.ts'

const CONNECT_SECONDS = 15

/** Opens the database. Throws `conflict` that names the server and the remedy. */
export async function openServerDatabase(address: DatabaseAddress, readFile: ReadFile) {
  const { begin, others, ...dialect } = ENGINES[address.engine]
  const name = presentDatabaseAddress(address)
  const client = connect(address, readFile)
  try {
    const connection = await client.reserve()
    // Use no prepared statements: the server would keep them, and connection poolers may mix them up.
    const run = (sql: string) => connection.unsafe<Row[]>(sql).simple()
    for (const statement of begin) await run(statement)
    const read = (sql: string): Promise<Row[]> =>
      run(sql).catch((cause) => {
        throw explainServer(address, cause)
      })
    return {
      name,
      ...dialect,
      read,
      findOthers: async () => {
        // A user without the permission finds no connections.
        const [row] = await read(others).catch(() => [])
        return Number(row?.others) > 0 ? `Other connections to ${name} are open` : null
      },
      close: () => client.close({ timeout: 0 }),
    }
  } catch (cause) {
    void client.close({ timeout: 0 })
    throw explainServer(address, cause)
  }
}

function connect(address: DatabaseAddress, readFile: ReadFile): SQL {
  const { engine, searchPath } = address
  const path = searchPath === null ? {} : { search_path: searchPath }
  return new SQL({
    ...databaseClientOptions(address, readFile),
    ...(engine === 'postgres' ? { connection: { application_name: 'oncebox import', ...path } } : {}),
    max: 1,
    connectionTimeout: CONNECT_SECONDS,
  })
}

type Engine = Pick<ForeignDatabase, 'textType' | 'columns'> & {
  /** Statements that begin the transaction, a snapshot that lasts for the whole import. */
  begin: readonly string[]
  /** The query that counts other connections to the database, as far as this user may see them. */
  others: string
}

const COLUMNS = 'SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns'

const ENGINES: Record<DatabaseAddress['engine'], Engine> = {
  postgres: {
    textType: 'text',
    columns: `${COLUMNS} WHERE table_schema = ANY (current_schemas(false))`,
    // Run this within the transaction, because a pooler may give every transaction another connection.
    begin: [
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
      "SET LOCAL client_encoding = 'UTF8'",
      'SET LOCAL datestyle = ISO',
      "SET LOCAL timezone = 'UTC'",
      `SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN
        ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
    ],
    others: `SELECT count(*) AS others FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
  },
  mysql: {
    textType: 'CHAR',
    columns: `${COLUMNS} WHERE table_schema = DATABASE()`,
    begin: [
      "SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')",
      'SET SESSION wait_timeout = 86400',
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ],
    others: `SELECT count(*) AS others FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
  },
}
