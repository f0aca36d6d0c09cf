// What an upgrade of the program needs of a data folder: its schema, and a copy of the database that opens nothing.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { dataFolder, requireDataFolder } from '../folder/data-folder.ts'
import { whileOpening } from '../folder/folder-lock.ts'
import { becomeOwner } from '../folder/ownership.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { type Connection, openConnection } from '../sqlite/engine/database.ts'
import { MIGRATIONS, schemaVersion } from '../sqlite/engine/migrate.ts'
import { copyWithoutKeys } from '../sqlite/engine/migration-copy.ts'
import { requireIntactLog } from '../sqlite/integrity/log-check.ts'

/** The version of the schema that this program makes, and the newest that it opens. */
export const CURRENT_SCHEMA = MIGRATIONS.length

const BUSY_MS = 5_000
const COPY = /^before-upgrade-from-[\w.+-]+\.db(\.part)?$/

/**
 * Copies the database, beside a server or without one, and returns the path of the copy. Only the latest copy is kept. When
 * root runs it, the process becomes the owner of the folder. Throws `disk_full` when the disk has no room for it.
 */
export function copyBeforeUpgrade(
  dataDir: string,
  { version, now }: { version: string; now: number },
): string {
  const folder = dataFolder(dataDir)
  const name = `before-upgrade-from-${version}.db`
  withDatabase(dataDir, () => {
    if (copyWithoutKeys({ folder, name, now, minFreeSpace: 0 })) return
    throw new DomainError(
      'disk_full',
      `The disk of ${dataDir} has no room for a copy of the database: nothing was changed.`,
    )
  })
  for (const other of readdirSync(folder.path))
    if (COPY.test(other) && other !== name) rmSync(join(folder.path, other), { force: true })
  return join(folder.path, name)
}

/** The schema version of the database. A program must know this version to open it. */
export function readSchema(dataDir: string): number {
  return withDatabase(dataDir, ({ database }) => schemaVersion(database))
}

function withDatabase<T>(dataDir: string, work: (connection: Connection) => T): T {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  try {
    return whileOpening(folder, ({ isServed }) => {
      if (!isServed) requireIntactLog(folder.database)
      const connection = openConnection(folder.database, { create: false, busyTimeout: BUSY_MS })
      try {
        return work(connection)
      } finally {
        connection.close()
      }
    })
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}
