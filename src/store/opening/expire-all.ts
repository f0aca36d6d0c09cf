// Opens a PostgreSQL database in which every push is to be expired, for a command while no node runs.

import { createDatabase } from '../postgres/engine/database.ts'
import { type Connect, requireServer } from '../postgres/engine/session.ts'
import { countLive, expireAll } from '../postgres/restoring/expire-all.ts'
import { migrate } from '../postgres/schema/migrate.ts'

/** Migrates a database that is older than the program. */
export async function openExpiring(connect: Connect) {
  await requireServer(connect)
  await migrate({ connect })
  const database = createDatabase({ connect, connections: 1 })
  return {
    /** Pushes that would be expired. */
    countLive: () => countLive(database),
    expireAll: (options: Parameters<typeof expireAll>[1]) => expireAll(database, options),
    close: database.close,
  }
}
