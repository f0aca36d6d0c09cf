// Counts the live pushes in steps, each of which reads a piece of the index of live pushes.

import type { LivePlace, PushListStore } from '../../face.ts'
import type { Read } from '../engine/database.ts'

const COUNT_STEP = 10_000

const COUNT_SOME = `
  WITH step AS (
    SELECT expires_at, id FROM pushes WHERE expired_on IS NULL AND (expires_at, id) > ($1, $2)
    ORDER BY expires_at, id LIMIT ${COUNT_STEP}
  )
  SELECT expires_at::float8 AS "expiresAt", id::float8 AS id, (SELECT count(*) FROM step)::float8 AS counted
  FROM step ORDER BY step.expires_at DESC, step.id DESC LIMIT 1`

export function createLiveCount(read: Read): Pick<PushListStore, 'countSomeLive'> {
  async function countSomeLive(after: LivePlace | null): ReturnType<PushListStore['countSomeLive']> {
    const from = after ?? { expiresAt: Number.MIN_SAFE_INTEGER, id: 0 }
    const [last] = await read(({ query }) =>
      query<LivePlace & { counted: number }>(COUNT_SOME, [from.expiresAt, from.id]),
    )
    if (last === undefined) return { counted: 0, next: null }
    const { counted, ...next } = last
    return { counted, next: counted < COUNT_STEP ? null : next }
  }

  return { countSomeLive }
}
