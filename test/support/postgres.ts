// A PostgreSQL server for the tests of one file, with a database of its own for each opening.

import { SQL } from 'bun'
import { type Connect, SESSION_SETTINGS } from '../../src/store/postgres/engine/session.ts'
import { migrate } from '../../src/store/postgres/schema/migrate.ts'
import { type DatabaseServer, startDatabaseServer } from './database-servers.ts'

/** `connect` opens connections to it. */
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

export async function startTestPostgres(flags: readonly string[] = []): Promise<TestPostgres> {
  const server = await startDatabaseServer('postgres', { flags })

  async function newEmptyDatabase(): Promise<TestDatabase> {
    const { address, close } = await server.newDatabase()
    return { address, connect: connectTo(address), close }
  }

  const { port, user, password } = server
  const addressOf = (database: string, user: string) =>
    `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
  const nameOf = ({ address }: TestDatabase) => new URL(address).pathname.slice(1)

  async function asAdmin(work: (admin: Bun.SQL) => Promise<unknown>): Promise<void> {
    const admin = connectTo(addressOf('postgres', 'postgres'))(1)
    await work(admin).finally(() => admin.close({ timeout: 0 }))
  }

  async function close(admin: Bun.SQL, name: string): Promise<void> {
    await alter(admin, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    while ((await admin.unsafe(END_CONNECTIONS, [name])).length > 0) await Bun.sleep(5)
  }

  /** The tables are made once, and copied: that takes a third of the time. */
  async function makeTemplate(): Promise<string> {
    const database = await newEmptyDatabase()
    await migrate({ connect: database.connect })
    await database.close()
    await asAdmin((admin) => close(admin, nameOf(database)))
    return nameOf(database)
  }
  let template: Promise<string> | null = null
  let made = 0

  async function newDatabase(): Promise<TestDatabase> {
    template ??= makeTemplate()
    const of = await template
    made += 1
    const address = addressOf(`made_${made}`, user)
    await asAdmin((admin) => admin.unsafe(`CREATE DATABASE made_${made} TEMPLATE ${of} OWNER ${user}`))
    return { address, connect: connectTo(address), close: async () => undefined }
  }

  async function copyDatabase(database: TestDatabase, name: string): Promise<Connect> {
    const of = nameOf(database)
    await asAdmin(async (admin) => {
      await close(admin, of)
      await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${of} OWNER ${user}`)
      await alter(admin, `ALTER DATABASE ${of} ALLOW_CONNECTIONS true`)
    })
    return connectTo(addressOf(name, user))
  }

  return { server, newEmptyDatabase, newDatabase, copyDatabase, stop: server.stop }
}

const END_CONNECTIONS = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1'

/** Without TLS, as no test of the engine needs it. */
export function connectTo(address: string): Connect {
  const options = { url: `${address}?sslmode=disable`, idleTimeout: 0, connection: SESSION_SETTINGS }
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
