// Opens only the accounts in PostgreSQL, for a command that runs beside the nodes or without one.

import type { Keyring } from '../../crypto/keyring.ts'
import type { DatabaseAddress } from '../../domain/database-address.ts'
import { DomainError } from '../../domain/errors.ts'
import type { Now } from '../../domain/time.ts'
import { explainCopy } from '../copy/state.ts'
import { createDatabase, type PostgresDatabase } from '../postgres/engine/database.ts'
import { createSteps } from '../postgres/engine/run-steps.ts'
import { type Connect, onOwnConnection } from '../postgres/engine/session.ts'
import { DATABASE_TIME, readInstance } from '../postgres/instance/instance.ts'
import { readKeys, requireKnownKeys } from '../postgres/instance/keys.ts'
import { connectTo } from '../postgres/reaching/address.ts'
import { reachServer } from '../postgres/reaching/reach.ts'
import { hasTables, migrate, requireCurrentSchema } from '../postgres/schema/migrate.ts'
import { createImportLook } from '../pushes/imports.ts'
import { createAccountOperations } from './operations.ts'

const CONNECTIONS = 2

export type PostgresAccountsOptions = {
  address: DatabaseAddress
  /** Makes the tables in an empty database. */
  create: boolean
}

/** Migrates no older tables. Throws `conflict`, with what helps, when the server or the tables cannot be used. */
export async function openPostgresAccounts({ address, create }: PostgresAccountsOptions) {
  const connect = await reach(address)
  if (create && !(await hasTables(connect))) await migrate({ connect })
  await onOwnConnection(connect, requireCurrentSchema)
  const database = createDatabase({ connect, connections: CONNECTIONS })
  try {
    const why = explainCopy((await database.read((session) => readInstance(session))).copy)
    if (why !== null) throw new DomainError('conflict', why)
    const now = await readClock(database)
    // A command removes no files: a node does.
    const steps = createSteps({ ...database, onDue: () => undefined })
    const { accounts, apiTokens, twoFactor } = createAccountOperations({ steps, now, setupLinks: 1 })
    const requireKeys = (keyring: Keyring, keyFile: string) =>
      database.read(async (session) => requireKnownKeys(await readKeys(session), keyring, keyFile))
    const look = { ...createImportLook(steps), requireKeys }
    return { accounts, apiTokens, twoFactor, look, close: database.close }
  } catch (cause) {
    await database.close()
    throw cause
  }
}

/** Whether the database holds data of Oncebox, of whatever version. */
export async function holdsTables(address: DatabaseAddress): Promise<boolean> {
  return hasTables(await reach(address))
}

async function reach(address: DatabaseAddress): Promise<Connect> {
  const connect = connectTo(address)
  await reachServer({ address, connect, patience: 0, onWait: () => undefined })
  return connect
}

/** The server's clock, which all nodes share. */
async function readClock({ read }: PostgresDatabase): Promise<Now> {
  const [row] = await read(({ query }) => query<{ time: number }>(`SELECT ${DATABASE_TIME} AS time`))
  const offset = (row?.time ?? 0) - performance.now()
  return () => Math.floor(offset + performance.now())
}
