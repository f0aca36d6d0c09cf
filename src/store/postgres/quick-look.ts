// Asks whether the database answers, for monitoring: quickly, and once however many ask meanwhile.

import { SECOND } from '../../domain/time.ts'
import type { DatabaseLook } from '../database-face.ts'
import type { Read } from './engine/database.ts'
import { REPLICATION } from './engine/server-facts.ts'

const LOOK = `SELECT ${REPLICATION} AS replication, (SELECT count(*)::int FROM pg_stat_replication) AS standbys`
const PATIENCE_MS = 1.5 * SECOND

export function createQuickLook(read: Read): () => Promise<DatabaseLook | null> {
  let asking: Promise<DatabaseLook | null> | null = null

  async function ask(): Promise<DatabaseLook | null> {
    const begun = performance.now()
    const [row] = await read(({ query }) => query<Omit<DatabaseLook, 'roundTrip'>>(LOOK))
    return row === undefined ? null : { ...row, roundTrip: performance.now() - begun }
  }

  return () => {
    // One that hangs ends by the deadline of `read`; until then nobody asks again.
    asking ??= ask()
      .catch(() => null)
      .finally(() => {
        asking = null
      })
    const { promise: late, resolve } = Promise.withResolvers<null>()
    const timer = setTimeout(() => resolve(null), PATIENCE_MS)
    return Promise.race([asking, late]).finally(() => clearTimeout(timer))
  }
}
