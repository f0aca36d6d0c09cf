// Poolers between Oncebox and PostgreSQL: one that shares connections by transaction is refused.

import { expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { parseDatabaseAddress } from '../../../../src/domain/database-address.ts'
import type { Connect } from '../../../../src/store/postgres/engine/connection.ts'
import { createDatabase } from '../../../../src/store/postgres/engine/database.ts'
import { inspectServer, requireServer } from '../../../../src/store/postgres/engine/server-check.ts'
import { connectTo } from '../../../../src/store/postgres/reaching/address.ts'
import { findPooler, startPooler } from '../../../support/pooler.ts'
import { usePostgres } from '../../../support/use-postgres.ts'
import { waitUntil } from '../../../support/waiting.ts'

const postgres = usePostgres()

postgres.describe('a pooler', () => {
  function connectThrough(text: string, port: number): Connect {
    const address = parseDatabaseAddress(`${text}?sslmode=disable`)
    if (address === null || 'problem' in address) throw new Error('no address')
    return connectTo({ ...address, port })
  }

  const open = (connect: Connect, told: unknown[]) =>
    createDatabase({
      connect,
      onState: (state) => told.push(state),
    })

  test('whose connections lead to the same process of PostgreSQL is refused, at the start and later', async () => {
    const { connect } = await postgres.newDatabase()
    const shared = connect(1)
    const reserved = await shared.reserve()
    /** Every connection is the same one. */
    const pooled: Connect = () =>
      new Proxy(shared, {
        get: (target, name, receiver) => {
          if (name === 'reserve') return async () => reserved
          if (name === 'close') return async () => undefined
          return Reflect.get(target, name, receiver)
        },
      }) satisfies SQL
    expect((await inspectServer(pooled)).problems).toEqual([expect.stringContaining('pool_mode = session')])
    const told: unknown[] = []
    const database = open(pooled, told)
    const reads = [1, 2].map(() =>
      database.read(({ query }) => query('SELECT pg_sleep(0.2)'), { within: 1000 }),
    )
    await Promise.allSettled(reads)
    await waitUntil(() => told.length > 0)
    expect(String(told[0])).toContain('pool_mode = session')
    await database.close()
    await shared.close({ timeout: 0 })
  }, 300_000)

  test.skipIf(findPooler() === null).each(['transaction', 'statement'] as const)(
    'by %s is refused by name',
    async (mode) => {
      const pooler = await startPooler(postgres.server, mode)
      const { address } = await postgres.newDatabase()
      const connect = connectThrough(address, pooler.port)
      const start = requireServer(connect, () => undefined)
      expect(String(await start.catch((cause: unknown) => cause))).toContain('pool_mode = session')
      await pooler.stop()
    },
    300_000,
  )

  test.skipIf(findPooler() === null)(
    'by session is as good as the server itself',
    async () => {
      const pooler = await startPooler(postgres.server, 'session')
      const { address } = await postgres.newDatabase()
      const connect = connectThrough(address, pooler.port)
      await requireServer(connect, () => undefined)
      const told: unknown[] = []
      const database = open(connect, told)
      const works = Array.from({ length: 20 }, (_, n) =>
        database.transact(({ query }) => query<{ n: number }>('SELECT $1::int AS n', [n])),
      )
      expect((await Promise.all(works)).map(([row]) => row?.n)).toEqual(works.map((_, n) => n))
      expect(told).toEqual([])
      await database.close()
      await pooler.stop()
    },
    300_000,
  )
})
