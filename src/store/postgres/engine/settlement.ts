// The rows by which the outcome of a transaction is settled after its connection was lost.

import type { Session } from './database.ts'

export type Outcome = { happened: boolean }

/**
 * Settles for good what became of an operation, by inserting its id as void. The insertion waits for a transaction in flight
 * that holds the same id, and when that has not happened yet, it never can. Reading the row would prove nothing while it is
 * absent, because the server may still be about to commit.
 *
 * An existing row is written once more. A server that crashed while it waited for its synchronous standby comes back with a
 * transaction that the standby may lack; the commit of this write waits for the standby to have both.
 */
export async function settleOperation(session: Session, id: Uint8Array): Promise<Outcome> {
  const [row] = await session.query<{ isVoid: boolean }>(
    `INSERT INTO operations (id, is_void) VALUES ($1, true) ON CONFLICT (id) DO UPDATE SET is_void = operations.is_void
     RETURNING is_void AS "isVoid"`,
    [id],
  )
  if (row === undefined) throw new Error('PostgreSQL inserted no operation')
  // Void may also come from an earlier settlement whose answer was lost.
  return { happened: !row.isVoid }
}
