// Opens the store in a data folder for the only process that serves it: checks and migrates the database, and
// records the folder as its home.

import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { conflict } from '../../domain/errors.ts'
import { codeOf, reasonOf } from '../../domain/system-errors.ts'
import { dataFolder, holdsData, prepareDataFolder, refuseBereft } from '../folder/data-folder.ts'
import { makeRoomToStart } from '../folder/disk-space.ts'
import { lockFolder } from '../folder/folder-lock.ts'
import { isReadableByOthers, readKeyring, removeLeftKeys } from '../folder/key-file.ts'
import { explainFailure, isBusy, isFull } from '../folder/sqlite-failures.ts'
import { enterKeys, refuseCopied } from '../instance.ts'
import { countEventsFrom } from '../notices/events.ts'
import { truncateLog } from '../sqlite/checkpoint.ts'
import { openDatabase, requireIntact } from '../sqlite/database.ts'
import { arrive, requireHome, takeLog } from '../sqlite/home.ts'
import { MIGRATIONS, makeDatabase, migrate, requireOwnTables, schemaVersion } from '../sqlite/migrate.ts'
import { copyBeforeMigration } from '../sqlite/migration-copy.ts'
import { BUSY_MS, createDrive } from '../sqlite/run-steps.ts'
import { removeCopyPlaces } from './backup-source.ts'
import type { OpenedStore } from './opened-store.ts'
import { type FolderStoreParts, openParts, type StoreOptions } from './sqlite-parts.ts'

/** Makes missing folder, key and database, and migrates. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const { dataDir, keyFile, onWarning } = options
  const folder = dataFolder(dataDir)
  prepareDataFolder(folder, keyFile)
  makeRoomToStart(folder.reserve)
  const lock = await lockFolder(folder, { onWarning })
  try {
    removeCopyPlaces(folder)
    const left = removeLeftKeys(folder, keyFile)
    if (left !== null) onWarning(left)
    const keys = { keyring: readKeyring(folder, keyFile), keyFile: keyFile ?? folder.key }
    if (!holdsData(folder)) makeDatabase(folder)
    const isLogLost = takeLog(folder)
    const database = openDatabase(folder.database, { create: true, busyTimeout: BUSY_MS })
    try {
      const opening = { database, keys, folder, options }
      const copy = await verify(opening, isLogLost)
      const store = await openParts(opening, copy)
      warnOfReaders(keys.keyFile, onWarning)
      return { ...store, close: () => store.close().then(lock.release) }
    } catch (cause) {
      if (!isLogLost) rmSync(folder.serving, { force: true })
      database.close(true)
      throw explainFailure(folder.database, cause)
    }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

/**
 * Prepares the database. Throws `conflict`, without changing anything, for a damaged database, a wrong key,
 * or a copy. `isLogLost`: the WAL of a killed server was removed. Returns the name of the copy made before a
 * migration, if any.
 */
async function verify(opening: FolderStoreParts, isLogLost: boolean): Promise<string | null> {
  const { database, keys, folder, options } = opening
  requireIntact(database)
  const version = schemaVersion(database)
  if (version === 0) refuseBereft(folder)
  const isServed = version > 0 && version <= MIGRATIONS.length && options.isServer
  const isMoved = isServed && (await requireHome(database, { ...options, folder, isLogLost }))
  const isOld = version > 0 && version < MIGRATIONS.length
  const now = options.clock.systemNow()
  const copy = isOld ? copyBeforeMigration({ ...options, now, folder, version }) : null
  migrate(database)
  requireOwnTables(database)
  const drive = createDrive(database)
  drive(refuseCopied())
  // Empty the WAL first, so that the pages that this start writes are checkpointed only once.
  emptyLogOfLastProcess(database)
  drive(enterKeys(keys))
  // The database may be an older copy, and have given lower numbers than clients know.
  if (isMoved) drive(countEventsFrom(now))
  if (options.isServer) await settle(opening)
  return copy
}

/**
 * Truncates the WAL of the last process. Throws `conflict` if that fails: nothing may be acknowledged after
 * frames that a former process could not sync.
 */
function emptyLogOfLastProcess(database: Database): void {
  if (truncateLog(database)) return
  const message = `Another process reads ${database.filename}, so its log cannot be emptied: end that process first.`
  throw conflict(message)
}

/** Finishes the start. Tolerates a full disk. Any other failure means that the database cannot be trusted. */
async function settle({ database, folder, options }: FolderStoreParts): Promise<void> {
  try {
    await arrive(database, folder)
  } catch (cause) {
    if (codeOf(cause).startsWith('SQLITE_') && !isFull(cause) && !isBusy(cause)) throw cause
    options.onWarning(
      `The home of this folder could not be written down: ${reasonOf(cause)}. The next start tries again.`,
    )
  }
}

function warnOfReaders(keyFile: string, onWarning: (warning: string) => void): void {
  if (isReadableByOthers(keyFile))
    onWarning(`Other users of this machine can read the key file ${keyFile}: chmod 600 it.`)
}
