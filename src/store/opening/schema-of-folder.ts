// The schema version of a data folder, which decides whether a program can open it.

import { dataFolder, requireDataFolder } from '../folder/data-folder.ts'
import { whileOpening } from '../folder/folder-lock.ts'
import { becomeOwner } from '../folder/ownership.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { openConnection } from '../sqlite/engine/database.ts'
import { takeLog } from '../sqlite/engine/home.ts'
import { MIGRATIONS, schemaVersion } from '../sqlite/engine/migrate.ts'

/** The version of the schema that this program makes, and the newest that it opens. */
export const CURRENT_SCHEMA = MIGRATIONS.length

const BUSY_MS = 5_000

/** Works beside a server or without one. When root runs it, the process becomes the owner of the folder. */
export function readSchema(dataDir: string): number {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  try {
    return whileOpening(folder, ({ isServed }) => {
      if (!isServed) takeLog(folder)
      const connection = openConnection(folder.database, { create: false, busyTimeout: BUSY_MS })
      try {
        return schemaVersion(connection.database)
      } finally {
        connection.close()
      }
    })
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}
