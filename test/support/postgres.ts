// A PostgreSQL server for the tests of one file, with a database of its own for each opening.

import { SQL } from 'bun'
import type { Connect } from '../../src/store/postgres/engine/connection.ts'
import { migrate, SCHEMA } from '../../src/store/postgres/engine/migrate.ts'
import { type DatabaseServer, startDatabaseServer } from './database-servers.ts'

/** `connect` opens connections to it. */
export type TestDatabase = { address: string; connect: Connect; close(): Promise<void> }

export type TestPostgres = {
  server: DatabaseServer
  newEmptyDatabase(): Promise<TestDatabase>
  /** An empty database with the tables of Oncebox. */
  newDatabase(): Promise<TestDatabase>
  stop(): Promise<void>
}

export async function startTestPostgres(): Promise<TestPostgres> {
  const server = await startDatabaseServer('postgres')

  async function newEmptyDatabase(): Promise<TestDatabase> {
    const { address, close } = await server.newDatabase()
    return { address, connect: connectTo(address), close }
  }

  async function newDatabase(): Promise<TestDatabase> {
    const database = await newEmptyDatabase()
    await migrate({ connect: database.connect, onWarning: () => undefined })
    return database
  }

  return { server, newEmptyDatabase, newDatabase, stop: server.stop }
}

/** Without TLS, as no test of the engine needs it. */
export function connectTo(address: string): Connect {
  const options = { url: `${address}?sslmode=disable`, idleTimeout: 0, connection: { search_path: SCHEMA } }
  return (max, onclose) => new SQL({ ...options, max, ...(onclose === undefined ? {} : { onclose }) })
}
