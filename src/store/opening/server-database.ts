// Opens a PostgreSQL database for a command, beside its nodes or while none runs.

import type { DatabaseAddress } from '../../domain/database-address.ts'
import { conflict } from '../../domain/errors.ts'
import { HOUR, MINUTE } from '../../domain/time.ts'
import { explainCopy } from '../copy/state.ts'
import { createDatabase } from '../postgres/engine/database.ts'
import { createSteps, drive } from '../postgres/engine/run-steps.ts'
import { type Connect, onOwnConnection } from '../postgres/engine/session.ts'
import { readInstance, requireAlone } from '../postgres/instance/instance.ts'
import { readKeys, requireKnownKeys } from '../postgres/instance/keys.ts'
import { connectTo } from '../postgres/reaching/address.ts'
import { reachServer } from '../postgres/reaching/reach.ts'
import { hasTables, migrate, requireCurrentSchema } from '../postgres/schema/migrate.ts'
import type { Step } from '../steps.ts'
import type { CommandDatabase, Keys } from './opened-store.ts'

const CONNECTIONS = 2
/** Commands also read all rows of a table. */
const READING = { within: 5 * MINUTE }

export type ServerPlace = {
  address: DatabaseAddress
  /** Makes the tables in an empty database. */
  create?: boolean
  /** Throws `conflict`, naming them, while nodes serve the database. */
  isAlone?: boolean
}

/** Migrates no older tables. Throws `conflict`, with what helps, when the server or the tables cannot be used. */
export async function openServerDatabase({ address, create = false, isAlone = false }: ServerPlace) {
  const database = await openTables(address, create)
  const { read, transact, close } = database
  try {
    const state = await read((session) => readInstance(session))
    const why = explainCopy(state.copy)
    if (why !== null) throw conflict(why)
    if (isAlone) await transact(requireAlone)
    const offset = state.time - performance.now()
    return {
      // A command removes no files: a node does.
      steps: createSteps({ read: (work) => read(work, READING), transact, onDue: () => undefined }),
      /** The server's clock, which all nodes share. */
      now: () => Math.floor(offset + performance.now()),
      requireKeys: ({ keyring, keyFile }: Keys) =>
        read(async (session) => requireKnownKeys(await readKeys(session), keyring, keyFile)),
      changeKeys: <T>(step: () => Step<T>, { keyring, keyFile }: Keys) =>
        transact(
          async (session) => {
            await requireAlone(session)
            requireKnownKeys(await readKeys(session), keyring, keyFile)
            const { number, verifier } = keyring.sealing
            await session.query(SEALS, [number, Buffer.from(verifier)])
            return await drive(step(), session)
          },
          { within: HOUR },
        ),
      close,
    } satisfies CommandDatabase & Record<string, unknown>
  } catch (cause) {
    await close()
    throw cause
  }
}

const SEALS = 'INSERT INTO instance_keys (number, verifier) VALUES ($1, $2) ON CONFLICT (number) DO NOTHING'

/** `create`: makes them in an empty database. */
export async function openTables(address: DatabaseAddress, create: boolean) {
  const connect = await reach(address)
  if (create && !(await hasTables(connect))) await migrate({ connect })
  await onOwnConnection(connect, requireCurrentSchema)
  return createDatabase({ connect, connections: CONNECTIONS })
}

/** Whether the database holds data of Oncebox, of whatever version. */
export async function holdsTables(address: DatabaseAddress): Promise<boolean> {
  return hasTables(await reach(address))
}

/** For a database that was set back. Migrates one that is older than the program. */
export async function openExpiring(address: DatabaseAddress) {
  const connect = await reach(address)
  await migrate({ connect })
  return createDatabase({ connect, connections: 1 })
}

async function reach(address: DatabaseAddress): Promise<Connect> {
  const connect = connectTo(address)
  await reachServer({ address, connect })
  return connect
}
