// Counts pushes in steps, each of which reads a piece of an index alone, so that no statement takes long among millions.

import type { LivePlace, PushCounts, PushListStore } from '../../face.ts'
import type { Read } from '../engine/database.ts'

/** Requests run between two steps of `countSomeLive`. */
const LIVE_STEP = 10_000
const STEP = 50_000

const countSome = (time: string, where: string) => `
  WITH step AS (
    SELECT ${time} AS at, id FROM pushes WHERE ${where} AND (${time}, id) > ($1::bigint, $2::bigint)
    ORDER BY ${time}, id LIMIT $3
  )
  SELECT at::float8 AS at, id::float8 AS id, (SELECT count(*) FROM step)::float8 AS counted
  FROM step ORDER BY step.at DESC, step.id DESC LIMIT 1`

const LIVE = countSome('expires_at', 'expired_on IS NULL')
const ANONYMOUS = countSome('expired_on', 'expired_on IS NOT NULL AND owner_id IS NULL')
const OWNED = countSome('expired_on', 'expired_on IS NOT NULL AND owner_id IS NOT NULL')

type Place = { at: number; id: number }
type Counted = { counted: number; next: Place | null }

export function createPushCounts(read: Read): Pick<PushListStore, 'countSomeLive' | 'countPushes'> {
  async function count(text: string, after: Place | null, most: number): Promise<Counted> {
    const { at, id } = after ?? { at: Number.MIN_SAFE_INTEGER, id: 0 }
    const [last] = await read(({ query }) => query<Place & { counted: number }>(text, [at, id, most]))
    if (last === undefined) return { counted: 0, next: null }
    const { counted, ...next } = last
    return { counted, next: counted < most ? null : next }
  }

  async function countAll(text: string): Promise<number> {
    let total = 0
    for (let next: Place | null | undefined; next !== null; ) {
      const step: Counted = await count(text, next ?? null, STEP)
      total += step.counted
      next = step.next
    }
    return total
  }

  async function countPushes(): Promise<PushCounts> {
    const [live, anonymous, owned] = [await countAll(LIVE), await countAll(ANONYMOUS), await countAll(OWNED)]
    return { live, expired: anonymous + owned }
  }

  async function countSomeLive(after: LivePlace | null): ReturnType<PushListStore['countSomeLive']> {
    const from = after && { at: after.expiresAt, id: after.id }
    const { counted, next } = await count(LIVE, from, LIVE_STEP)
    return { counted, next: next && { expiresAt: next.at, id: next.id } }
  }

  return { countSomeLive, countPushes }
}
