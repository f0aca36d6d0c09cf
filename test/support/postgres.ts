// A PostgreSQL server for the tests of one file, with a database of its own for each opening.

import type { SQL } from 'bun'
import { SQL as Client } from 'bun'
import { migrate, SCHEMA } from '../../src/store/postgres/engine/migrate.ts'
import { type DatabaseServer, startDatabaseServer } from './database-servers.ts'

/** `connect` opens connections to it. */
export type TestDatabase = { address: string; connect(max: number): SQL; close(): Promise<void> }

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
    const options = { url: `${address}?sslmode=disable`, idleTimeout: 0, connection: { search_path: SCHEMA } }
    return { address, connect: (max) => new Client({ ...options, max }), close }
  }

  async function newDatabase(): Promise<TestDatabase> {
    const database = await newEmptyDatabase()
    await migrate({ connect: database.connect, onWarning: () => undefined })
    return database
  }

  return { server, newEmptyDatabase, newDatabase, stop: server.stop }
}
