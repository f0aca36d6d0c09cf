// The connection of a move to a PostgreSQL database, and what it looks at before anything is read or written.

import type { DatabaseAddress } from '../../../domain/database-address.ts'
import { DomainError } from '../../../domain/errors.ts'
import { HOUR } from '../../../domain/time.ts'
import { type Connect, openConnection } from '../engine/connection.ts'
import { deadlineIn } from '../engine/deadline.ts'
import { requireServer } from '../engine/server-check.ts'
import { applySettings } from '../engine/session-settings.ts'
import { LIVE_NODES } from '../instance/nodes.ts'
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
/** Beside the lock of migrations. */
const MOVE_LOCK = 22322573991890777n

export type Connected = Opened & { connect: Connect }
type Opened = { query: Query; close(): void; transact(work: (query: Query) => Promise<void>): Promise<void> }

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

/** Closes the connection when the work throws. */
export async function closing<T>(opened: Opened, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    opened.close()
    throw cause
  }
}

/** Throws `conflict` while a node serves the database. */
export async function requireIdle(query: Query, name: string): Promise<void> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM nodes WHERE id IN (${LIVE_NODES}) ORDER BY name`,
  )
  if (rows.length === 0) return
  throw new DomainError(
    'conflict',
    `${name} is being served (by ${rows.map((row) => row.name).join(', ')}): stop all nodes first. A node that was killed counts ` +
      'as gone after a minute.',
  )
}

/** Every heartbeat of a node and every transaction of a command leaves another one. */
export async function readMark(query: Query): Promise<string> {
  const [row] = await query<{ mark: string }>(
    `SELECT concat_ws(' ', tag, beats, restored_at, (SELECT during::text FROM operations ORDER BY during DESC LIMIT 1)) AS mark FROM instance`,
  )
  return row?.mark ?? ''
}

/** Why nothing may be served; null when nothing speaks against it. */
export async function readHalted(query: Query): Promise<string | null> {
  const [row] = await query<{ halted: string | null }>('SELECT halted FROM instance')
  return row?.halted ?? null
}

/** For as long as the connection lasts. Throws `conflict` while another move is under way. */
export async function lockMoves(query: Query, name: string): Promise<void> {
  const [row] = await query<{ held: boolean }>(`SELECT pg_try_advisory_lock(${MOVE_LOCK}) AS held`)
  if (!row?.held)
    throw new DomainError('conflict', `Another move into ${name} is under way: wait for its end.`)
}
