// Nodes over one PostgreSQL database: the operations of the store, each node with connections of its own.

import { randomBytes } from 'node:crypto'
import { createDatabase } from '../../src/store/postgres/engine/database.ts'
import { createPostgresOperations } from '../../src/store/postgres/operations.ts'
import { createTestClock, type TestClock } from './instance.ts'
import type { TestPostgres } from './postgres.ts'

export type PostgresNode = ReturnType<typeof createPostgresOperations>

export type PostgresNodes = {
  nodes: [PostgresNode, PostgresNode]
  clock: TestClock
  /** Statements for the test itself. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** Two nodes over an empty database, with one clock that the test sets. */
export async function openPostgresNodes(postgres: TestPostgres): Promise<PostgresNodes> {
  const database = await postgres.newDatabase()
  const clock = createTestClock()
  const pools = [1, 2].map(() =>
    createDatabase({ connect: database.connect, newOperationId: () => randomBytes(16) }),
  )
  const [first, second] = pools.map((pool) =>
    createPostgresOperations({
      database: pool,
      now: clock.now,
      certain: clock.now,
      observe: () => undefined,
      node: randomBytes(16),
      onError: (cause) => {
        throw cause
      },
    }),
  )
  if (first === undefined || second === undefined) throw new Error('two pools make two nodes')
  const sql = database.connect(1)
  return {
    nodes: [first, second],
    clock,
    query: (text, values = []) => sql.unsafe(text, values),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
      await sql.close({ timeout: 0 })
      await database.close()
    },
  }
}
