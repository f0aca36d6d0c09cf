// Reads the database of another server from PostgreSQL, MySQL or MariaDB, through Bun's own client: one connection, and one
// transaction that sees a single moment and can write nothing.

import { type ReservedSQL, SQL } from 'bun'
import {
  type DatabaseAddress,
  type DatabaseEngine,
  presentDatabaseAddress,
} from '../../domain/database-address.ts'
import { type ClientOptions, databaseClientOptions } from '../../domain/database-client.ts'
import type { Dialect, ForeignDatabase, Row } from './foreign-database.ts'
import { explainServer } from './server-errors.ts'

export type ServerOptions = ClientOptions

const CONNECT_SECONDS = 15

/** Throws `conflict`, naming the server and what helps. */
export async function openServerDatabase(options: ServerOptions): Promise<ForeignDatabase> {
  const { address } = options
  const { dialect, begin, others } = ENGINES[address.engine]
  const explain = (cause: unknown) => explainServer(address, cause)
  const client = connect(options)
  const connection = await reserve(client, begin).catch((cause) => {
    void client.close({ timeout: 0 })
    throw explain(cause)
  })

  async function read(sql: string): Promise<Row[]> {
    // Without prepared statements, which the server would keep, and behind poolers may mix up.
    return connection
      .unsafe<Row[]>(sql)
      .simple()
      .catch((cause) => {
        throw explain(cause)
      })
  }

  async function findOthers(): Promise<string[]> {
    // A user who may not see them sees none.
    const [row] = await read(others).catch(() => [])
    return Number(row?.others) > 0 ? [isBusy(address, Number(row?.others))] : []
  }

  return {
    name: presentDatabaseAddress(address),
    dialect,
    read,
    findOthers,
    leaveMoment: async () => void (await read('ROLLBACK')),
    close: () => client.close({ timeout: 0 }),
  }
}

async function reserve(client: SQL, begin: readonly string[]): Promise<ReservedSQL> {
  const connection = await client.reserve()
  for (const statement of begin) await connection.unsafe(statement).simple()
  return connection
}

function connect(options: ServerOptions): SQL {
  const { engine, searchPath } = options.address
  return new SQL({
    ...databaseClientOptions(options),
    ...(engine === 'postgres' ? { connection: parametersOf(searchPath) } : {}),
    max: 1,
    connectionTimeout: CONNECT_SECONDS,
  })
}

function parametersOf(searchPath: string | null): Record<string, string> {
  return { application_name: 'oncebox import', ...(searchPath === null ? {} : { search_path: searchPath }) }
}

function isBusy(address: DatabaseAddress, others: number): string {
  const connections = others === 1 ? 'Another connection' : `${others} other connections`
  return (
    `${connections} to ${presentDatabaseAddress(address)} ${others === 1 ? 'is' : 'are'} open: the old server seems to run. ` +
    'Stop it before the import, because views that it counts from now on are not known here.'
  )
}

type Engine = {
  dialect: Dialect
  /** Opens the one moment, and lets it last as long as the import needs. */
  begin: readonly string[]
  /** Counts other connections to the database, as far as this user may see them. */
  others: string
}

const ENGINES: Record<DatabaseEngine, Engine> = {
  postgres: {
    dialect: {
      quote: (name) => `"${name}"`,
      text: (column) => `CAST(${column} AS text)`,
      columns: `SELECT tables.relname AS "table", columns.attname AS "column"
        FROM pg_attribute AS columns JOIN pg_class AS tables ON tables.oid = columns.attrelid
        JOIN pg_namespace AS schemas ON schemas.oid = tables.relnamespace
        WHERE tables.relkind IN ('r', 'p', 'v', 'm', 'f') AND columns.attnum > 0 AND NOT columns.attisdropped
          AND pg_table_is_visible(tables.oid) AND schemas.nspname NOT IN ('pg_catalog', 'information_schema')`,
    },
    // Within the transaction, because a pooler may give every transaction another connection.
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
    dialect: {
      quote: (name) => `\`${name}\``,
      text: (column) => `CAST(${column} AS CHAR)`,
      columns: `SELECT table_name AS \`table\`, column_name AS \`column\`
        FROM information_schema.columns WHERE table_schema = DATABASE()`,
    },
    begin: [
      'SET SESSION wait_timeout = 86400',
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
      'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    ],
    others: `SELECT count(*) AS others FROM information_schema.processlist
      WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
  },
}
