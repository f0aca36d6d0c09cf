// Used idempotency keys and their sealed answers. They are inserted with their pushes; an answer is destroyed when its push ends.

import type { Now } from '../../../domain/time.ts'
import type { IdempotencyStore } from '../../face.ts'
import type { PostgresDatabase } from '../engine/database.ts'

const STEP = 100

export function createIdempotencyKeys(options: {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
}): IdempotencyStore {
  const { database, now, certain } = options

  async function findKey(lookup: Uint8Array): Promise<{ answer: Uint8Array | null } | null> {
    const [row] = await database.read(({ query }) => query<KeyRow>(FIND, [lookup]))
    return row === undefined || row.lapsesAt <= now() ? null : { answer: row.answer }
  }

  async function removeLapsed(): Promise<number> {
    const removed = await database.transact(({ query }) => query(REMOVE, [certain(), STEP]))
    return removed.length
  }

  return { findKey, removeLapsed }
}

/**
 * Part of a statement that destroys the answers of the pushes `ids` (SQL for an array), after the part `held` has locked sums.
 * Every transaction locks sums, then keys, both in their order: otherwise two could wait for each other.
 */
export const destroyAnswers = (ids: string) => `
    keys AS MATERIALIZED (
      SELECT lookup FROM idempotency_keys WHERE push_id = ANY(${ids}) AND (SELECT count(*) FROM held) >= 0
      ORDER BY lookup FOR UPDATE
    ),
    answers AS (
      UPDATE idempotency_keys SET push_id = NULL, answer = NULL WHERE lookup = ANY(ARRAY(SELECT lookup FROM keys))
    )`

type KeyRow = { lapsesAt: number; answer: Uint8Array | null }

const FIND = 'SELECT lapses_at::float8 AS "lapsesAt", answer FROM idempotency_keys WHERE lookup = $1::bytea'

// Skips keys that another node removes or uses again at this moment. An array is read once; a subquery might be read again, and
// so lock more than it should.
const REMOVE = `
  DELETE FROM idempotency_keys WHERE lookup = ANY(ARRAY(
    SELECT lookup FROM idempotency_keys WHERE lapses_at <= $1::bigint ORDER BY lapses_at LIMIT $2::int
    FOR UPDATE SKIP LOCKED
  )) RETURNING 1`
