// Opens a PostgreSQL database for a command, beside its nodes or while none runs.

import type { DatabaseAddress } from '../../domain/database-address.ts'
import { HOUR, MINUTE } from '../../domain/time.ts'
import type { NodeNote } from '../folder/notes.ts'
import { refuseCopied } from '../instance.ts'
import { createDatabase } from '../postgres/engine/database.ts'
import { createAlone, createSteps } from '../postgres/engine/run-steps.ts'
import { type Connect, onOwnConnection } from '../postgres/engine/session.ts'
import { DATABASE_TIME, findRefusal, readInstance, requireAlone } from '../postgres/instance/instance.ts'
import { hasTables, migrate, requireCurrentSchema } from '../postgres/migrate.ts'
import { connectTo } from '../postgres/reaching/address.ts'
import { reachServer } from '../postgres/reaching/reach.ts'
import { statement } from '../statements.ts'
import { first } from '../steps.ts'
import type { CommandDatabase } from './opened-store.ts'

const CONNECTIONS = 2
/** The timeout of a command's read, which may scan a table. */
const READING = { within: 5 * MINUTE }

type ServerPlace = {
  address: DatabaseAddress
  /** Creates the tables in an empty database. */
  create?: boolean
  /** Throws `conflict`, naming them, while nodes serve the database. */
  isAlone?: boolean
}

/**
 * Opens the database without migrating it. Throws `conflict` with the remedy when the server or the tables
 * cannot be used.
 */
export async function openServerDatabase({ address, create = false, isAlone = false }: ServerPlace) {
  const database = await openTables(address, create)
  const { read, transact, close } = database
  try {
    // Remove no files here: a node does.
    const steps = createSteps({ read: (work) => read(work, READING), transact, onEffect: () => undefined })
    await steps.read(refuseCopied)
    if (isAlone) await transact(requireAlone)
    const time = (await steps.read(() => first(TIME)))?.time ?? 0
    const offset = time - performance.now()
    return {
      steps,
      /** The server's clock, which all nodes share. */
      now: () => Math.floor(offset + performance.now()),
      alone: createAlone({ transact, enter: requireAlone, within: HOUR }),
      /** Finds why the node with this note may not serve the database; null when it may. */
      findRefusal: async (note: NodeNote | null) => {
        const node = note && Buffer.from(note.node, 'hex')
        return findRefusal(await read((session) => readInstance(session, { node })), note, false)
      },
      close,
    } satisfies CommandDatabase & Record<string, unknown>
  } catch (cause) {
    await close()
    throw cause
  }
}

const TIME = statement<{ time: number }>(`SELECT ${DATABASE_TIME} AS time`)

/** Opens the tables. `create`: creates them in an empty database. */
export async function openTables(address: DatabaseAddress, create: boolean) {
  const connect = await reach(address)
  if (create && !(await hasTables(connect))) await migrate({ connect })
  await onOwnConnection(connect, requireCurrentSchema)
  return createDatabase({ connect, connections: CONNECTIONS })
}

/** Whether the database holds data of Oncebox, of any version. */
export async function holdsTables(address: DatabaseAddress): Promise<boolean> {
  return hasTables(await reach(address))
}

/** Opens a restored database to expire its pushes. Migrates it if it is older than this program. */
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
