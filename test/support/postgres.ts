// PostgreSQL for the tests of one file, with a new database for each opening.

import { SQL } from 'bun'
import { CLIENT_OPTIONS, type Connect } from '../../src/store/postgres/engine/session.ts'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { type DatabaseServer, startDatabaseServer } from './database-servers.ts'

/** A database. `connect` opens connections to it. */
export type TestDatabase = { address: string; connect: Connect; close(): Promise<void> }

export type TestPostgres = {
  server: DatabaseServer
  newEmptyDatabase(): Promise<TestDatabase>
  /** An empty database with the tables of Oncebox. */
  newDatabase(): Promise<TestDatabase>
  /** Ends all connections to a database, as a crash does, and copies it under a new name. */
  copyDatabase(database: TestDatabase, name: string): Promise<Connect>
  stop(): Promise<void>
}

/**
 * A template for each server, by its port. The tables are created once and then copied, which takes a third
 * of the time.
 */
const templates = new Map<number, Promise<string>>()
let made = 0

export async function startTestPostgres(flags: readonly string[] = []): Promise<TestPostgres> {
  const server = await startDatabaseServer('postgres', { flags })
  const { port, user, password } = server
  const addressOf = (database: string, user: string) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
  const nameOf = ({ address }: Pick<TestDatabase, 'address'>) => new URL(address).pathname.slice(1)
  const admin = connectTo(addressOf('postgres', 'postgres'))(1)
  const copies: string[] = []

  async function newEmptyDatabase(): Promise<TestDatabase> {
    const { address, close } = await server.newDatabase()
    return { address, connect: connectTo(address), close }
  }

  async function closeToOthers(name: string): Promise<void> {
    await alter(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    while ((await admin.unsafe(END_CONNECTIONS, [name])).length > 0) await Bun.sleep(5)
  }

  async function makeTemplate(): Promise<string> {
    const name = 'with_tables'
    await admin.unsafe(`CREATE DATABASE ${name} OWNER ${user}`)
    await migrate({ connect: connectTo(addressOf(name, user)) })
    await closeToOthers(name)
    return name
  }

  async function copy(of: string, name: string): Promise<string> {
    copies.push(name)
    await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${of} OWNER ${user}`)
    return addressOf(name, user)
  }

  async function newDatabase(): Promise<TestDatabase> {
    const template = templates.get(port) ?? makeTemplate()
    templates.set(port, template)
    const of = await template
    made += 1
    const address = await copy(of, `made_${made}`)
    return { address, connect: connectTo(address), close: async () => undefined }
  }

  async function copyDatabase(database: TestDatabase, name: string): Promise<Connect> {
    const of = nameOf(database)
    await closeToOthers(of)
    const address = await copy(of, name)
    await alter(admin, `ALTER DATABASE ${of} ALLOW_CONNECTIONS true`)
    return connectTo(address)
  }

  async function stop(): Promise<void> {
    for (const name of copies.splice(0)) await server.removeDatabase(name)
    await admin.close({ timeout: 0 })
    await server.stop()
  }

  return { server, newEmptyDatabase, newDatabase, copyDatabase, stop }
}

const END_CONNECTIONS = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'

/** Connects without TLS, which no test of the engine needs. */
export function connectTo(address: string): Connect {
  const options = { url: `${address}?sslmode=disable`, idleTimeout: 0, ...CLIENT_OPTIONS }
  return (max, onclose) => new SQL({ ...options, max, ...(onclose === undefined ? {} : { onclose }) })
}

/** An autovacuum may write the row of the database at the same moment, which PostgreSQL refuses. */
async function alter(admin: Bun.SQL, text: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await admin.unsafe(text)
      return
    } catch (cause) {
      if (tries === 20 || !String(cause).includes('tuple concurrently updated')) throw cause
      await Bun.sleep(50)
    }
  }
}
