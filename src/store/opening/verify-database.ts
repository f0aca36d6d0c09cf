// Checks an opened database before it is served, brings it up to date, and makes the folder its home.

import type { Keyring } from '../../crypto/keyring.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import type { Now } from '../../domain/time.ts'
import type { OnStep } from '../every-engine/durable-steps.ts'
import { type DataFolder, refuseBereft } from '../folder/data-folder.ts'
import { isBusy, isFull } from '../folder/sqlite-failures.ts'
import type { Connection } from '../sqlite/engine/database.ts'
import { arrive, requireHome } from '../sqlite/engine/home.ts'
import { refuseCopied, requireIntact, verifyKeys } from '../sqlite/engine/instance.ts'
import { MIGRATIONS, migrate, requireOwnTables, schemaVersion } from '../sqlite/engine/migrate.ts'
import { copyBeforeMigration } from '../sqlite/engine/migration-copy.ts'

export type Verifying = {
  connection: Connection
  keyring: Keyring
  folder: DataFolder
  /** The log of a killed server was removed. */
  isLogLost: boolean
  options: {
    clock: { systemNow: Now }
    /** Serves a folder that was moved or copied, from now on. */
    acceptMove: boolean
    /** Whether this process will serve the folder. A command compares no home, and makes none. */
    isServer: boolean
    /** Bytes of the disk that must stay free: creating is refused below. */
    minFreeSpace: number
    /** Is given a sentence for the operator. */
    onWarning: (warning: string) => void
    onStep?: OnStep | undefined
  }
}

/**
 * Checks the database, brings it up to date, and makes this its home. Throws `conflict`, and then nothing was changed, for a
 * damaged database, a wrong key, or a copy. Returns the name of the copy that was made before a migration, if any.
 */
export async function verifyDatabase(verifying: Verifying): Promise<string | null> {
  const { connection, keyring, folder, isLogLost, options } = verifying
  const { database } = connection
  requireIntact(connection)
  const version = schemaVersion(database)
  if (version === 0) refuseBereft(folder)
  else if (version <= MIGRATIONS.length && options.isServer)
    await requireHome(connection, { ...options, folder, isLogLost })
  const isOld = version > 0 && version < MIGRATIONS.length
  const now = options.clock.systemNow()
  const copy = isOld ? copyBeforeMigration({ ...options, now, folder, version }) : null
  migrate(database)
  requireOwnTables(database)
  refuseCopied(connection)
  verifyKeys(connection, keyring)
  if (options.isServer) await settle(verifying)
  return copy
}

/** A server starts on a full disk too. A database that fails otherwise cannot be trusted. */
async function settle({ connection, folder, options }: Verifying): Promise<void> {
  try {
    await arrive(connection, { ...options, folder })
  } catch (cause) {
    if (codeOf(cause).startsWith('SQLITE_') && !isFull(cause) && !isBusy(cause)) throw cause
    options.onWarning(
      `The home of this folder could not be written down: ${reasonOf(cause)}. The next start tries again.`,
    )
  }
}
