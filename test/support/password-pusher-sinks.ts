// The targets of a generated Password Pusher database: an SQLite file, PostgreSQL or MariaDB.

import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseServer } from './database-servers.ts'
import { NEWEST_VERSION, TABLES } from './password-pusher-tables.ts'

export type Value = string | number | boolean | null
export type SourceRow = Record<string, Value>

/** Rows of a table have the same columns every time. */
export type Sink = {
  /** The value of `--database`. */
  database: string
  /** Inserts a row: at once in SQLite, otherwise at the next `flush`. */
  insert(table: string, row: SourceRow): void
  flush(): Promise<void>
  /** Changes rows that were written. */
  run(sql: string): Promise<void>
  close(): Promise<void>
}

/** Makes a sink for SQLite. `log`: leaves the rows in the WAL. */
export function sqliteSink(path: string, { log = false } = {}): Sink {
  mkdirSync(dirname(path), { recursive: true })
  const database = new Database(path)
  if (log) database.run('PRAGMA journal_mode = WAL')
  database.run('PRAGMA synchronous = OFF')
  database.run(TABLES.sqlite)
  const insert = (table: string, row: SourceRow) => {
    const names = Object.keys(row)
    const values = Object.values(row).map((value) => (typeof value === 'boolean' ? Number(value) : value))
    const places = names.map(() => '?').join(', ')
    database.query(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...values)
  }
  insert('schema_migrations', { version: NEWEST_VERSION })
  return {
    database: path,
    insert,
    flush: async () => undefined,
    run: async (sql) => void database.run(sql),
    close: async () => database.close(),
  }
}

const ROWS_AT_ONCE = 500

export async function serverSink(server: DatabaseServer, { latin1 = false } = {}): Promise<Sink> {
  const { address, sql, close } = await server.newDatabase(latin1)
  for (const statement of TABLES[server.engine].split(';')) await sql.unsafe(statement).simple()
  const kept = new Map<string, SourceRow[]>()
  const insert = (table: string, row: SourceRow) => {
    const rows = kept.get(table) ?? []
    kept.set(table, rows)
    rows.push(row)
  }
  insert('schema_migrations', { version: NEWEST_VERSION })

  async function flush(): Promise<void> {
    for (const [table, rows] of kept)
      while (rows.length > 0) await sql`INSERT INTO ${sql(table)} ${sql(rows.splice(0, ROWS_AT_ONCE))}`
  }

  return {
    database: address,
    insert,
    flush,
    run: async (statement) => void (await sql.unsafe(statement).simple()),
    close: async () => {
      await flush()
      await close()
    },
  }
}
