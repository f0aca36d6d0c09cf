// The database of a backup in a folder of its own, which nobody serves: checked, and made ready for its first start.

import type { Keyring } from '../../crypto/keyring.ts'
import type { Visit } from '../../domain/audit.ts'
import { loseSome } from '../pushes/expiry.ts'
import { verifyKeys, writeClockMark } from '../sqlite/engine/instance.ts'
import { schemaVersion } from '../sqlite/engine/migrate.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import { instance } from '../sqlite/engine/schema.ts'
import {
  bringUpToDate,
  explainUnpacked,
  openUnpacked,
  requirePlausibleClock,
  type Unpacked,
} from '../sqlite/restoring/unpacked-database.ts'
import { type BackupContent, createUnpackedRows, type OnProgress } from '../sqlite/restoring/unpacked-rows.ts'
import { apiTokens, filesDue } from '../tables.ts'

export type { BackupContent, BackupToken, OnProgress } from '../sqlite/restoring/unpacked-rows.ts'

export type UnpackedStore = ReturnType<typeof openUnpackedStore>

export type EndLive = {
  /** Also the time that the first start takes for the last use of the folder. */
  now: number
  /** Whose the entry in the log of each lost push is. */
  visit: Visit
  onProgress: OnProgress
}

/**
 * Opens the database of a backup and brings it to the schema of this program. Throws `conflict` when it is damaged, of a
 * newer version, or holds anything that opens a push. `name` is told in refusals. A process that is killed meanwhile
 * leaves it unusable.
 */
export function openUnpackedStore(path: string, name: string) {
  const { connection, orphans } = openUnpacked(path, name)
  try {
    const schema = schemaVersion(connection.database)
    bringUpToDate(connection, name)
    requirePlausibleClock(connection, name)
    /** `schema`: the version that the backup was made with. */
    return { schema, ...createOperations({ connection, orphans }, name) }
  } catch (cause) {
    connection.close()
    throw cause
  }
}

function createOperations({ connection, orphans }: Unpacked, name: string) {
  const { orm, database } = connection
  const unpacked = createUnpackedRows({ connection, orphans })

  /** `now` tells the pushes that can still be opened from those whose time is over. */
  function read(now: number): Promise<BackupContent> {
    return explained(async () => unpacked.read(now))
  }

  /** Throws `conflict` unless these are the keys that the database was written with. */
  function requireKeys(keyring: Keyring): void {
    verifyKeys(connection, keyring)
  }

  /** The latest time that the server had seen when the backup was made. */
  function lastUsed(): number {
    return orm.select({ mark: instance.clockMark }).from(instance).get()?.mark ?? 0
  }

  /** Expires as lost what was live, and forgets files. Resolves to the number of lost pushes. */
  function endLive({ now, visit, onProgress }: EndLive): Promise<number> {
    return explained(async () => {
      const lost = await losePushes({ now, visit, onProgress })
      orm.delete(filesDue).run()
      writeClockMark(connection, now)
      return lost
    })
  }

  /** One process alone works on the database: no operation has to wait for another. */
  async function losePushes({ now, visit, onProgress }: EndLive): Promise<number> {
    const { within } = createSteps(database, refuse, () => undefined)
    const some = database.transaction(() => within(loseSome({ now, visit })))
    const total = unpacked.countLive()
    let [done, lost] = [0, 0]
    for (let step = some(); step.found > 0; step = some()) {
      done += step.found
      lost += step.lost
      onProgress(done, total)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return lost
  }

  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (cause) {
      throw explainUnpacked(cause, name)
    }
  }

  return {
    lastUsed,
    read,
    requireKeys,
    endLive,
    revokeApiTokens: () => void orm.delete(apiTokens).run(),
    close: connection.close,
  }
}

function refuse(): never {
  throw new Error('nothing else writes to the database of a backup')
}
