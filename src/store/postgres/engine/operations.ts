// The rows by which the outcome of a transaction is settled after its connection was lost.

import type { Session } from './database.ts'

/** Whether the operation happened, and what its row holds. */
export type Outcome = { happened: boolean; result: number[] }

/**
 * Settles for good what became of an operation, by inserting its id as void. The insertion waits for a transaction in flight
 * that holds the same id, and when that has not happened yet, it never can. Null when the row is gone, which tells nothing.
 *
 * Reading the row would prove nothing while it is absent, because the server may still be about to commit.
 */
export async function settleOperation(session: Session, id: Uint8Array): Promise<Outcome | null> {
  const voided = await session.query(
    'INSERT INTO operations (id, is_void) VALUES ($1, true) ON CONFLICT (id) DO NOTHING RETURNING is_void',
    [id],
  )
  if (voided.length > 0) return { happened: false, result: [] }
  const [row] = await session.query<{ isVoid: boolean; result: number[] | null }>(
    'SELECT is_void AS "isVoid", result::float8[] AS result FROM operations WHERE id = $1',
    [id],
  )
  // An earlier settlement of this operation may have lost its answer: then the row is void.
  return row === undefined ? null : { happened: !row.isVoid, result: row.result ?? [] }
}
