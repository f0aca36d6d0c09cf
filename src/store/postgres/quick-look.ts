// Asks whether the database answers, for monitoring: quickly, and with one query for all callers of the same moment.

import { SECOND } from '../../domain/time.ts'
import type { DatabaseLook } from '../database-face.ts'
import type { Read, Session } from './engine/database.ts'
import { FOLLOWERS, type FollowerRow, standbysOf } from './engine/followers.ts'

const LOOK = `SELECT ${FOLLOWERS}, current_setting('full_page_writes')::bool AS "fullPageWrites"`
const PATIENCE_MS = 1.5 * SECOND

export type QuickLookOptions = {
  read: Read
  /** What the user of the database may not do; null when nothing is missing. */
  findLack: (session: Session) => Promise<string | null>
}

export function createQuickLook({ read, findLack }: QuickLookOptions): () => Promise<DatabaseLook | null> {
  let asking: Promise<DatabaseLook | null> | null = null

  async function ask(): Promise<DatabaseLook | null> {
    return read(async (session) => {
      const begun = performance.now()
      const [row] = await session.query<FollowerRow & { fullPageWrites: boolean }>(LOOK)
      const roundTrip = performance.now() - begun
      if (row === undefined) return null
      const { fullPageWrites } = row
      return { roundTrip, fullPageWrites, standbys: standbysOf(row), lack: await findLack(session) }
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
