// A PostgreSQL server for the tests of one file, with a database of its own for each opening.

import type { SQL } from 'bun'
import { SQL as Client } from 'bun'
import { type DatabaseServer, startDatabaseServer } from './database-servers.ts'

export type TestPostgres = {
  server: DatabaseServer
  /** An empty database with the tables of Oncebox; `connect` opens connections to it. */
  newDatabase(): Promise<{ address: string; connect(max: number): SQL; close(): Promise<void> }>
  stop(): Promise<void>
}

const TABLES = new URL('../../src/store/postgres/engine/migrations/0001-tables.sql', import.meta.url)

export async function startTestPostgres(): Promise<TestPostgres> {
  const server = await startDatabaseServer('postgres')
  const tables = await Bun.file(TABLES).text()
  return {
    server,
    newDatabase: async () => {
      const { address, sql, close } = await server.newDatabase()
      await sql.unsafe(tables).simple()
      const connect = (max: number) => new Client({ url: `${address}?sslmode=disable`, max, idleTimeout: 0 })
      return { address, connect, close }
    },
    stop: server.stop,
  }
}
