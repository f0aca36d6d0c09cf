// A database of PostgreSQL behind a proxy that fails as tests ask, and the table that their transactions
// write.

import { createDatabase, type DatabaseOptions } from '../../src/store/postgres/engine/database.ts'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { connectTo, type TestPostgres } from './postgres.ts'

export type ProxiedDatabase = Awaited<ReturnType<typeof openProxied>>

/** `database` connects through `proxy`, `direct` does not. Both have a table `notes (n int PRIMARY KEY)`. */
export async function openProxied(
  postgres: Pick<TestPostgres, 'newDatabase' | 'server'>,
  options: Partial<DatabaseOptions> = {},
) {
  const whole = await postgres.newDatabase()
  const { address, connect, close } = whole
  const proxy: FaultProxy = await startFaultProxy(postgres.server.port)
  const proxied = connectTo(address.replace(/@127\.0\.0\.1:\d+/, `@127.0.0.1:${proxy.port}`))
  const direct = createDatabase({ connect })
  await direct.transact((session) => session.query('CREATE TABLE notes (n int PRIMARY KEY)'))
  const database = createDatabase({ connect: proxied, ...options })
  return {
    whole,
    address,
    proxy,
    database,
    direct,
    countNotes: () =>
      direct.read(async (session) => {
        const [row] = await session.query<{ count: number }>('SELECT count(*)::int AS count FROM notes')
        return row?.count ?? -1
      }),
    close: async () => {
      await database.close()
      await direct.close()
      await proxy.close()
      await close()
    },
  }
}
