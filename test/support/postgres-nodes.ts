// Nodes on one PostgreSQL database: the operations of the store, each node with separate connections.

import { randomBytes } from 'node:crypto'
import { type Keyring, newKeyFile, parseKeyFile } from '../../src/crypto/keyring.ts'
import type { SharedState } from '../../src/store/contract.ts'
import { createOperations } from '../../src/store/operations.ts'
import { createDatabase, type PostgresDatabase } from '../../src/store/postgres/engine/database.ts'
import { createAlone, createSteps } from '../../src/store/postgres/engine/run-steps.ts'
import type { PostgresSession } from '../../src/store/postgres/engine/session.ts'
import { refuseBesideNodes } from '../../src/store/postgres/instance/instance.ts'
import { createImports } from '../../src/store/pushes/imports.ts'
import { createTestClock, type TestClock } from './instance.ts'
import type { TestPostgres } from './postgres.ts'
import { patient } from './waiting.ts'

export type PostgresNode = ReturnType<typeof operationsOver>

export type PostgresNodes = {
  nodes: [PostgresNode, PostgresNode, PostgresNode]
  /** The shared state as each node sees it. */
  shared: [SharedState, SharedState, SharedState]
  pools: PostgresDatabase[]
  keyring: Keyring
  clock: TestClock
  /** Runs a statement of the test itself. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** How far the clock of each further node is behind. */
const LAG_MS = 300

const PATIENCE_MS = 120_000

/**
 * Opens three nodes on an empty database. Their clock is set by the test; all but the first node read it with
 * a delay.
 */
export async function openPostgresNodes(postgres: Pick<TestPostgres, 'newDatabase'>): Promise<PostgresNodes> {
  const database = await postgres.newDatabase()
  const clock = createTestClock()
  const pools = [0, 1, 2].map(() => patientPool(createDatabase({ connect: database.connect })))
  const keyring = parseKeyFile(newKeyFile())
  const [first, second, third] = pools.map((pool, n) =>
    operationsOver(pool, keyring, () => clock.now() - n * LAG_MS),
  )
  if (!first || !second || !third) throw new Error('three pools make three nodes')
  const sql = database.connect(1)
  return {
    nodes: [patient(first), patient(second), patient(third)],
    shared: [patient(first.shared), patient(second.shared), patient(third.shared)],
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

/**
 * Waits for as long as a busy machine needs, so that no change is in doubt unless its connection was ended.
 */
function patientPool(pool: PostgresDatabase): PostgresDatabase {
  return {
    ...pool,
    read: (work, options) => pool.read(work, { within: PATIENCE_MS, ...options }),
    transact: (work, options) => pool.transact(work, { within: PATIENCE_MS, ...options }),
  }
}

export function operationsOver(database: PostgresDatabase, keyring: Keyring, now: () => number) {
  const { glance, ...steps } = createSteps({ ...database, onEffect: () => undefined })
  const onError = (cause: unknown) => {
    throw cause
  }
  const enter = (session: PostgresSession) => refuseBesideNodes(session, randomBytes(16))
  return {
    ...createOperations({
      ...{
        steps,
        glance,
        keyring,
        now,
        trusted: now,
        hasRoom: () => true,
        onError,
        setupLinks: 10,
        node: new Uint8Array(1),
      },
    }),
    imports: createImports({
      ...{ steps, now },
      alone: createAlone({ ...database, enter, within: PATIENCE_MS }),
    }),
  }
}
