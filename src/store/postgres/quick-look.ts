// Asks whether the database answers, for monitoring: quickly, and with one query for all callers of the same moment.

import { SECOND } from '../../domain/time.ts'
import type { DatabaseLook } from '../database-face.ts'
import type { Read } from './engine/database.ts'

const PATIENCE_MS = 1.5 * SECOND

export function createQuickLook(read: Read): () => Promise<DatabaseLook | null> {
  let asking: Promise<DatabaseLook | null> | null = null

  async function ask(): Promise<DatabaseLook | null> {
    return read(async ({ query }) => {
      const begun = performance.now()
      await query('SELECT 1 AS one')
      return { roundTrip: performance.now() - begun }
    })
  }

  return () => {
    // A look that hangs ends with the deadline of `read`. Until then, all callers share it.
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
