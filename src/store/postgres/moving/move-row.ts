// The row that says that everything is being moved into this database, or was moved away from it. No node serves it then: the
// row of the instance says why, which nodes read before they serve, and with each heartbeat. In a database that was confirmed as
// the target of a move, the row says that for good.

import { DomainError } from '../../../domain/errors.ts'
import { formatTime } from '../../../domain/time.ts'
import { notLeft, targetChanged } from '../../moving/ends.ts'
import type { MovedAway, MoveState } from '../../moving-face.ts'
import { serverText } from '../engine/server-text.ts'
import { haltNodes } from '../instance/instance.ts'

/** Runs one statement on a connection. */
export type Query = <Row>(text: string, values?: readonly unknown[]) => Promise<Row[]>

type MoveRow = {
  move: string
  /** `arrived`: the confirmed target. `left` and `settled`: the source, before and after the target was confirmed. */
  state: MoveState['state'] | 'arrived' | 'left' | 'settled'
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
  if (row?.state !== 'copying' && row?.state !== 'copied') return null
  return { id: row.move, state: row.state, source: row.place, sourceMark: row.mark }
}

/** Whether the database is an end of a move, so that nothing but the move itself may bring it to be served. */
export async function isEndOfMove(query: Query): Promise<boolean> {
  return refusalOf(await readRow(query)) !== null
}

/** The id of the move that brought everything; null without one, and once everything went on. */
export async function readArrived(query: Query): Promise<string | null> {
  const row = await readRow(query)
  return row?.state === 'arrived' ? row.move : null
}

/** Throws `conflict` for either end of a move, which nothing but the move itself may bring to be served. */
export async function requireNoMove(query: Query): Promise<void> {
  const refusal = refusalOf(await readRow(query))
  if (refusal !== null) throw new DomainError('conflict', refusal)
}

/**
 * Within a transaction: as `requireNoMove`, and until the transaction ends no move begins into the database, or leaves it.
 */
export async function keepMovesAway(query: Query): Promise<void> {
  await query('SELECT FROM instance FOR UPDATE')
  await requireNoMove(query)
}

/** Null for a database that may be served. */
function refusalOf(row: MoveRow | null): string | null {
  if (row === null || row.state === 'arrived') return null
  return isAway(row) ? movedAwayText(row) : unfinishedText(row)
}

const isAway = ({ state }: MoveRow) => state === 'left' || state === 'settled'

/** Null unless everything was moved away. */
export async function readMovedAway(query: Query): Promise<MovedAway | null> {
  const row = await readRow(query)
  return row !== null && isAway(row)
    ? { id: row.move, to: row.place, at: row.at, isSettled: row.state === 'settled' }
    : null
}

/** Within a transaction. Nothing serves the database until `arrive`. */
export async function writeMoveState(
  query: Query,
  { id, state, source, sourceMark }: MoveState,
): Promise<void> {
  await write(query, { move: id, state, place: source, mark: sourceMark, at: 0 })
  await haltNodes({ query }, unfinishedText({ state, place: source }))
}

/** Within a transaction. Nothing serves the database any more. */
export async function writeMovedAway(query: Query, { id, to, at, isSettled }: MovedAway): Promise<void> {
  await write(query, { move: id, state: isSettled ? 'settled' : 'left', place: to, mark: '', at })
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

/** Within a transaction. The target was confirmed. Throws `conflict` for a database that this move did not leave. */
export async function settleLeft(query: Query, { id, name }: { id: string; name: string }): Promise<void> {
  const rows = await query(
    "UPDATE moves SET state = 'settled' WHERE move = $1 AND state IN ('left', 'settled') RETURNING id",
    [id],
  )
  if (rows.length === 0) throw new DomainError('conflict', notLeft(name))
}

/**
 * Within a transaction. The database can be served from now on. Throws `conflict` unless it holds the finished copy of this move:
 * the server may have been set back, or may be another one.
 */
export async function arrive(query: Query, { id, name }: { id: string; name: string }): Promise<void> {
  const rows = await query(
    "UPDATE moves SET state = 'arrived' WHERE move = $1 AND state = 'copied' RETURNING id",
    [id],
  )
  if (rows.length === 0) throw new DomainError('conflict', targetChanged(name))
  await query('UPDATE instance SET halted = NULL')
}
