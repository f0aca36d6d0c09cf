// Opens only the accounts in PostgreSQL, for a command that runs beside the nodes or without one.

import type { Keyring } from '../../crypto/keyring.ts'
import type { DatabaseAddress } from '../../domain/database-address.ts'
import { type Now, SECOND } from '../../domain/time.ts'
import type { Connect } from '../postgres/engine/connection.ts'
import { createDatabase, type PostgresDatabase } from '../postgres/engine/database.ts'
import { onOwnConnection } from '../postgres/engine/own-connection.ts'
import { createSteps } from '../postgres/engine/run-steps.ts'
import { requireServer } from '../postgres/engine/server-check.ts'
import { DATABASE_TIME } from '../postgres/instance/instance.ts'
import { readKeys, requireKnownKeys } from '../postgres/instance/instance-keys.ts'
import { refuseEmpty } from '../postgres/instance/key-file.ts'
import { requireServable } from '../postgres/instance/servable.ts'
import { createAccountOperations } from '../postgres/operations.ts'
import { connectTo } from '../postgres/reaching/address.ts'
import { reachServer } from '../postgres/reaching/reach.ts'
import { migrate } from '../postgres/schema/migrate.ts'
import { hasTables, requireCurrentSchema } from '../postgres/schema/schema-version.ts'
import { createImportLook } from '../pushes/imports.ts'
import { type Remembering, readRemembered } from './remembering.ts'

const CONNECTIONS = 2
/** A question at the terminal may take minutes, in which a standby may take over. */
const RECENT_MS = 2 * SECOND

export type PostgresAccountsOptions = {
  address: DatabaseAddress
  /** What nodes remember of the database, by which one that was set back or left behind is noticed. */
  remembering: Remembering
  /** Makes the tables in an empty database. */
  create: boolean
  onWarning: (warning: string) => void
  /** Milliseconds for which one look holds, and to wait for a node that knows more, for tests. */
  recent?: number
  patience?: number
}

/**
 * Migrates no older tables. Throws `conflict`, with what helps, when the server or the tables cannot be used, and for a database
 * that a node would refuse to serve.
 */
export async function openPostgresAccounts(options: PostgresAccountsOptions) {
  const { address } = options
  const connect = await reach(address)
  await requireServer(connect, () => undefined)
  const database = createDatabase({ connect, connections: CONNECTIONS })
  try {
    const lookAgain = await createLook(database, { ...options, connect })
    await lookAgain()
    const now = await readClock(database)
    // A command removes no files: a node does.
    const onDue = () => undefined
    const rows = {
      database: guard(database, { look: lookAgain, recent: RECENT_MS, ...options }),
      now,
      certain: now,
      onDue,
    }
    const { accounts, apiTokens, twoFactor } = createAccountOperations(rows)
    const requireKeys = (keyring: Keyring, keyFile: string) =>
      database.read(async (session) => requireKnownKeys(await readKeys(session), keyring, keyFile))
    const imports = { ...createImportLook(createSteps({ ...database, onDue })), requireKeys }
    return { accounts, apiTokens, twoFactor, look: imports, close: database.close }
  } catch (cause) {
    await database.close()
    throw cause
  }
}

type Looking = PostgresAccountsOptions & { connect: Connect }

/** Makes the tables, if that is asked for. What it returns throws `conflict` when the database may not be used. */
async function createLook(database: PostgresDatabase, options: Looking): Promise<() => Promise<void>> {
  const { connect, create, onWarning, remembering, patience } = options
  const told = onceEach(onWarning)
  const read = () => readRemembered(remembering, told)
  if (create && !(await hasTables(connect))) {
    if (read().inFolder !== null) throw refuseEmpty()
    await migrate({ connect, onWarning })
  }
  await onOwnConnection(connect, requireCurrentSchema)
  return async () => {
    const renew = connect.servers === undefined ? null : database.renew
    const found = { ...read(), read: database.read, renew }
    await requireServable({ ...found, onWarning: told, patience })
  }
}

function onceEach(tell: (warning: string) => void): (warning: string) => void {
  const told = new Set<string>()
  return (warning) => {
    if (!told.has(warning)) tell(warning)
    told.add(warning)
  }
}

/** The same database, which is looked at again before it is changed, unless that was done a moment ago. */
function guard(
  database: PostgresDatabase,
  { look, recent }: { look: () => Promise<void>; recent: number },
): PostgresDatabase {
  let lookedAt = performance.now()
  async function lookAgain(): Promise<void> {
    if (performance.now() - lookedAt < recent) return
    await database.followFailover()
    await look()
    lookedAt = performance.now()
  }
  return {
    ...database,
    transact: (work, how) => lookAgain().then(() => database.transact(work, how)),
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
