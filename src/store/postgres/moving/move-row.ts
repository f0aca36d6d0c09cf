// The row that says that everything is being moved into this database, or was moved away from it. No node serves it then: the
// row of the instance says why, which nodes read before they serve, and with each heartbeat.

import { DomainError } from '../../../domain/errors.ts'
import { formatTime } from '../../../domain/time.ts'
import type { MovedAway, MoveState } from '../../moving-face.ts'
import { serverText } from '../engine/server-text.ts'
import { haltNodes } from '../instance/instance.ts'

/** Runs one statement on a connection. */
export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

type MoveRow = {
  move: string
  state: MoveState['state'] | 'left'
  place: string
  mark: string
  at: number
}

async function readRow(query: Query): Promise<MoveRow | null> {
  const [row] = await query<MoveRow>(
    'SELECT move, state, place, mark, at::float8 AS at FROM moves WHERE id = 1',
  )
  return row ?? null
}

/** Null when nothing is being moved into the database. */
export async function readMoveState(query: Query): Promise<MoveState | null> {
  const row = await readRow(query)
  if (row === null || row.state === 'left') return null
  return { id: row.move, state: row.state, source: row.place, sourceMark: row.mark }
}

/** Whether the database is an end of a move, so that nothing but the move itself may bring it to be served. */
export async function isEndOfMove(query: Query): Promise<boolean> {
  return (await readRow(query)) !== null
}

/** Throws `conflict` for either end of a move, which nothing but the move itself may bring to be served. */
export async function requireNoMove(query: Query): Promise<void> {
  const row = await readRow(query)
  if (row === null) return
  throw new DomainError('conflict', row.state === 'left' ? movedAwayText(row) : unfinishedText(row))
}

/** Null unless everything was moved away. */
export async function readMovedAway(query: Query): Promise<MovedAway | null> {
  const row = await readRow(query)
  return row?.state === 'left' ? { id: row.move, to: row.place, at: row.at } : null
}

/** Within a transaction. Nothing serves the database until `forgetMoveState`. */
export async function writeMoveState(
  query: Query,
  { id, state, source, sourceMark }: MoveState,
): Promise<void> {
  await write(query, { move: id, state, place: source, mark: sourceMark, at: 0 })
  await haltNodes({ query }, unfinishedText({ state, place: source }))
}

/** Within a transaction. Nothing serves the database any more. */
export async function writeMovedAway(query: Query, { id, to, at }: MovedAway): Promise<void> {
  await write(query, { move: id, state: 'left', place: to, mark: '', at })
  await haltNodes({ query }, movedAwayText({ place: to, at }))
}

function unfinishedText({ state, place }: Pick<MoveRow, 'state' | 'place'>): string {
  return state === 'copied'
    ? `A move from ${serverText(place)} into this database is not confirmed: run "oncebox move" again with --confirm.`
    : `A move from ${serverText(place)} into this database is not complete: run "oncebox move" again.`
}

function movedAwayText({ place, at }: Pick<MoveRow, 'place' | 'at'>): string {
  return `Everything in this database was moved to ${serverText(place)} at ${formatTime(at)}: start the server there.`
}

async function write(query: Query, { move, state, place, mark, at }: MoveRow): Promise<void> {
  await query(
    `INSERT INTO moves (id, move, state, place, mark, at) VALUES (1, $1, $2, $3, $4, $5)
     ON CONFLICT (id) DO UPDATE SET move = $1, state = $2, place = $3, mark = $4, at = $5`,
    [move, state, place, mark, at],
  )
}

/** Within a transaction. The database can be served from now on. */
export async function forgetMoveState(query: Query): Promise<void> {
  await query("DELETE FROM moves WHERE state <> 'left'")
  await query('UPDATE instance SET halted = NULL')
}
