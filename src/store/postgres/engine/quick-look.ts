// Checks whether the database answers.

import { SECOND } from '../../../domain/time.ts'
import type { DatabaseResponse } from '../../database-contract.ts'
import type { RunRead } from './database.ts'

const LOOK_MS = 1.5 * SECOND

/**
 * Creates a function that resolves to null if the database does not answer soon. Concurrent calls share one
 * query.
 */
export function createQuickLook(read: RunRead): () => Promise<DatabaseResponse | null> {
  let asking: Promise<DatabaseResponse | null> | null = null
  const ask = () =>
    read(
      async ({ query }) => {
        const begun = performance.now()
        await query('SELECT 1 AS one')
        return { roundTrip: performance.now() - begun }
      },
      { within: LOOK_MS },
    )
  return () => {
    asking ??= ask()
      .catch(() => null)
      .finally(() => {
        asking = null
      })
    return asking
  }
}
