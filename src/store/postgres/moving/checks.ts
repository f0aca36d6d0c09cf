// What a move looks at in a PostgreSQL database before anything is read or written.

import { DomainError } from '../../../domain/errors.ts'
import { LOCKS } from '../engine/advisory-locks.ts'
import { serverText } from '../engine/server-text.ts'
import { LIVE_NODES } from '../instance/node-rows.ts'
import type { Query } from './move-row.ts'

/** Throws `conflict` while a node serves the database. */
export async function requireIdle(query: Query, name: string): Promise<void> {
  const rows = await query<{ name: string }>(
    `SELECT name FROM nodes WHERE id IN (${LIVE_NODES}) ORDER BY name`,
  )
  if (rows.length === 0) return
  throw new DomainError(
    'conflict',
    `${name} is being served (by ${serverText(rows.map((row) => row.name).join(', '))}): stop all nodes first. A node that was killed counts ` +
      'as gone after a minute.',
  )
}

/** Every heartbeat of a node and every transaction of a command leaves another one. */
export async function readMark(query: Query): Promise<string> {
  const [row] = await query<{ mark: string }>(
    `SELECT concat_ws(' ', tag, beats, restored_at,
       (SELECT during::text FROM operations ORDER BY during DESC LIMIT 1)) AS mark FROM instance`,
  )
  return row?.mark ?? ''
}

/** What the folders of its nodes know the database by. */
export async function readTag(query: Query): Promise<string | null> {
  const [row] = await query<{ tag: string }>('SELECT tag::text AS tag FROM instance')
  return row?.tag ?? null
}

/** Throws `conflict`, with the reason, when nothing of the database may be served: then nothing may be moved either. */
export async function requireReadable(query: Query): Promise<void> {
  const [row] = await query<{ halted: string | null }>('SELECT halted FROM instance')
  if (typeof row?.halted === 'string') throw new DomainError('conflict', serverText(row.halted))
}

/** For as long as the connection lasts. Throws `conflict` while another move is under way. */
export async function lockMoves(query: Query, name: string): Promise<void> {
  const [row] = await query<{ held: boolean }>(`SELECT pg_try_advisory_lock(${LOCKS.move}) AS held`)
  if (!row?.held)
    throw new DomainError('conflict', `Another move into ${name} is under way: wait for its end.`)
}
