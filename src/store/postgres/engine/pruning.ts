// Removes the rows of operations once no node can ask for them any more. Tells their age by the transactions since, because a
// clock that jumps must not remove the row of a transaction whose outcome is still being settled.

import type { Job } from '../../../domain/job.ts'
import { HOUR, MINUTE } from '../../../domain/time.ts'
import type { PostgresDatabase, Session } from './database.ts'

/** A node may ask for its operations for half an hour. */
const KEPT_MS = HOUR
const STEP = 5000

export type PruneOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  /** Milliseconds of a clock that only goes on. */
  elapsed: () => number
}

/** Returns a function that removes the rows that are an hour old, and resolves to how many. It is called every few minutes. */
export function createPruning({ database, elapsed }: PruneOptions): () => Promise<number> {
  let marks: { at: number; oldest: bigint }[] = []

  return async () => {
    const at = elapsed()
    const oldest = await database.read(readOldestTransaction)
    // A server that was set back counts its transactions anew.
    if (marks.some((mark) => mark.oldest > oldest)) marks = []
    marks.push({ at, oldest })
    const due = marks.findLastIndex((mark) => at - mark.at >= KEPT_MS)
    if (due === -1) return 0
    marks = marks.slice(due)
    return removeBefore(database, String(marks[0]?.oldest))
  }
}

/** The oldest transaction that is under way. */
async function readOldestTransaction({ query }: Session): Promise<bigint> {
  const [row] = await query<{ oldest: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest',
  )
  return BigInt(row?.oldest ?? 0)
}

async function removeBefore(database: PruneOptions['database'], oldest: string): Promise<number> {
  for (let removed = 0; ; ) {
    const step = await database.transact(({ query }) => query(REMOVE, [oldest, STEP]))
    removed += step.length
    if (step.length < STEP) return removed
  }
}

/** Other nodes do the same. */
const REMOVE = `DELETE FROM operations WHERE id = ANY(ARRAY(
    SELECT id FROM operations WHERE during < $1::xid8 ORDER BY during LIMIT $2 FOR UPDATE SKIP LOCKED
  )) RETURNING 1 AS one`

const EVERY_MS = 5 * MINUTE

export function createPruningJob(options: PruneOptions): Job {
  const prune = createPruning(options)
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  return {
    name: 'operations',
    start: (report) => {
      const run = () => prune().then(report.did, report.failed)
      timer = setInterval(() => {
        running = running.then(run)
      }, EVERY_MS)
    },
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}
