// Nodes over one PostgreSQL database: the operations of the store, each node with connections of its own.

import { randomBytes } from 'node:crypto'
import { type Keyring, newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import { createDamage } from '../../src/store/every-engine/damage.ts'
import { createDatabase, type PostgresDatabase } from '../../src/store/postgres/engine/database.ts'
import { createPostgresOperations } from '../../src/store/postgres/operations.ts'
import { createSharedRows } from '../../src/store/postgres/shared/shared-state.ts'
import type { SharedState } from '../../src/store/shared-face.ts'
import { createTestClock, type TestClock } from './instance.ts'
import type { TestPostgres } from './postgres.ts'
import { patient } from './waiting.ts'

export type PostgresNode = ReturnType<typeof createPostgresOperations>

type SharedRows = ReturnType<typeof createSharedRows>

export type PostgresNodes = {
  nodes: [PostgresNode, PostgresNode]
  /** What the two nodes share. */
  shared: [SharedState, SharedState]
  sharing: [SharedRows, SharedRows]
  pools: [PostgresDatabase, PostgresDatabase]
  keyring: Keyring
  clock: TestClock
  /** Statements for the test itself. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** A turn that was lost is told; everything else waits for a database that is busy. */
const patientBut = (state: SharedState): SharedState => ({ ...patient(state), turns: state.turns })

/** What the second node's estimate of the time is behind. */
const LAG_MS = 300

/** Two nodes over an empty database, with one clock that the test sets, and which the second node reads late. */
export async function openPostgresNodes(postgres: Pick<TestPostgres, 'newDatabase'>): Promise<PostgresNodes> {
  const database = await postgres.newDatabase()
  const clock = createTestClock()
  const open = () => createDatabase({ connect: database.connect })
  const pools: [PostgresDatabase, PostgresDatabase] = [open(), open()]
  const keyring = parseKeyFile(newKeyFile())
  const onError = (cause: unknown) => {
    throw cause
  }
  const clockOf = (n: number) => {
    const now = () => clock.now() - n * LAG_MS
    return { now, trusted: now }
  }
  const [one, other] = pools.map((pool, n) => createSharedRows({ ...pool, ...clockOf(n), keyring, onError }))
  const [first, second] = pools.map((pool, n) =>
    createPostgresOperations({
      database: pool,
      ...clockOf(n),
      node: randomBytes(16),
      damage: createDamage(() => undefined),
      onDue: () => undefined,
    }),
  )
  if (!first || !second || !one || !other) throw new Error('two pools make two nodes')
  const sql = database.connect(1)
  return {
    nodes: [patient(first), patient(second)],
    shared: [patientBut(one.state), patientBut(other.state)],
    sharing: [one, other],
    pools,
    keyring,
    clock,
    query: (text, values = []) => sql.unsafe(text, values),
    close: async () => {
      await Promise.all(pools.map((pool) => pool.close()))
      await sql.close({ timeout: 0 })
      await database.close()
    },
  }
}
