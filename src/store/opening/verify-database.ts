// Checks an opened database before it is served, brings it up to date, and writes down where it is served.

import type { Keyring } from '../../crypto/keyring.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { type DataFolder, refuseBereft } from '../folder/data-folder.ts'
import { isBusy, isFull } from '../folder/sqlite-failures.ts'
import type { Connection } from '../sqlite/engine/database.ts'
import { createHomecoming, requireHome } from '../sqlite/engine/home.ts'
import { requireIntact, verifyKeys } from '../sqlite/engine/instance.ts'
import { MIGRATIONS, migrate, requireOwnTables, schemaVersion } from '../sqlite/engine/migrate.ts'
import { copyBeforeMigration } from '../sqlite/engine/migration-copy.ts'

export type Verifying = {
  connection: Connection
  keyring: Keyring
  folder: DataFolder
  options: VerifyOptions
}

export type VerifyOptions = {
  /** A hash of the id of this machine; null when it has none. */
  machine: string | null
  /** Serves a folder that was moved or copied, from now on. */
  acceptMove: boolean
  /** Whether this process will serve the folder. A command only refuses a copy. */
  isServer: boolean
  now: number
  /** Bytes of the disk that must stay free: creating is refused below. */
  minFreeSpace: number
  /** Is given a sentence for the operator. */
  onWarning: (warning: string) => void
}

export type Verified = {
  /** The copy made before the migration, if any. */
  copy: string | null
  /** Writes the home down once more: a copy from before is then older than its original. */
  leave: (now: number) => void
}

/** Throws `conflict`, and then nothing was changed, for a damaged database, a wrong key, or a copy. */
export function verifyDatabase({ connection, keyring, folder, options }: Verifying): Verified {
  const { database } = connection
  requireIntact(connection)
  const version = schemaVersion(database)
  if (version === 0) refuseBereft(folder)
  const isOld = version > 0 && version < MIGRATIONS.length
  if (version <= MIGRATIONS.length) requireHome(connection, { ...options, folder })
  const copy = isOld ? copyBeforeMigration({ ...options, folder, version }) : null
  migrate(database)
  requireOwnTables(database)
  verifyKeys(connection, keyring)
  const { remember } = createHomecoming(connection, { ...options, folder })
  if (options.isServer) arrive(() => remember(options.now), options.onWarning)
  return { copy, leave: options.isServer ? (now) => leave(() => remember(now)) : () => undefined }
}

/** A server starts on a full disk too. A database that fails otherwise cannot be trusted. */
function arrive(remember: () => void, onWarning: (warning: string) => void): void {
  try {
    remember()
  } catch (cause) {
    if (codeOf(cause).startsWith('SQLITE_') && !isFull(cause) && !isBusy(cause)) throw cause
    const reason = reasonOf(cause)
    onWarning(`Where this folder is served could not be written down: ${reason}. The next start tries again.`)
  }
}

/** Nothing is lost when it fails: the last home stays. */
function leave(remember: () => void): void {
  try {
    remember()
  } catch {
    // The server ends, and has nobody to tell.
  }
}
