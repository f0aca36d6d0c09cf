// The connection of a move to a PostgreSQL database.

import type { DatabaseAddress } from '../../../domain/database-address.ts'
import { HOUR } from '../../../domain/time.ts'
import { type Connect, openConnection } from '../engine/connection.ts'
import { deadlineIn } from '../engine/deadline.ts'
import { requireServer } from '../engine/server-check.ts'
import { applySettings } from '../engine/session-settings.ts'
import { connectTo } from '../reaching/address.ts'
import { reachServer } from '../reaching/reach.ts'
import type { Query } from './move-row.ts'

export type PostgresOptions = {
  /** With the password. */
  address: DatabaseAddress
  onWarning: (warning: string) => void
}

const OPEN_MS = 10_000
/** The longest that one statement may take. */
const STALL_MS = HOUR
const patience = () => ({ answer: STALL_MS, end: deadlineIn(STALL_MS) })

export type Connected = {
  connect: Connect
  query: Query
  transact(work: (query: Query) => Promise<void>): Promise<void>
  close(): void
}

export async function openSession({ address, onWarning }: PostgresOptions): Promise<Connected> {
  const connect = connectTo(address)
  await reachServer({ address, connect, patience: 0, onWait: () => undefined })
  await requireServer(connect, onWarning)
  const connection = await openConnection({
    connect,
    openWithin: OPEN_MS,
    prepare: async (session) => {
      await applySettings(session)
      await session.query(UNHURRIED)
    },
    onLost: () => undefined,
  })
  const query: Query = (text, values) => connection.run((session) => session.query(text, values), patience())

  async function transact(work: (query: Query) => Promise<void>): Promise<void> {
    await query('BEGIN')
    try {
      await work(query)
    } catch (cause) {
      // Otherwise its locks would last as long as the connection.
      await query('ROLLBACK').catch(() => undefined)
      throw cause
    }
    await query('COMMIT')
  }

  return { connect, query, transact, close: connection.close }
}

/** A move has long statements, and may rest between them. */
const UNHURRIED = `SELECT set_config('statement_timeout', '0', false), set_config('idle_in_transaction_session_timeout', '0', false)`

/** Closes the connection only when the work throws: otherwise the caller goes on with it. */
export async function closingOnFailure<T>({ close }: Connected, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    close()
    throw cause
  }
}

/** Runs work on a connection of its own. */
export async function withSession<T>(
  options: PostgresOptions,
  work: (session: Connected) => Promise<T>,
): Promise<T> {
  const session = await openSession(options)
  try {
    return await work(session)
  } finally {
    session.close()
  }
}
