// Opens the database of a data folder for a command: beside its server, in its place, or only for reading.

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import {
  type DataFolder,
  dataFolder,
  holdsData,
  prepareDataFolder,
  requireDataFolder,
} from '../folder/data-folder.ts'
import { besideServer, isServed, lockFolder } from '../folder/folder-lock.ts'
import { readKeyring } from '../folder/key-file.ts'
import { becomeOwner } from '../folder/ownership.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { enterKeys, refuseCopied } from '../instance.ts'
import { truncateLog } from '../sqlite/checkpoint.ts'
import { openDatabase, requireIntact } from '../sqlite/database.ts'
import { isLogLost, requireHome, takeLog } from '../sqlite/home.ts'
import { makeDatabase, requireCurrentSchema, schemaVersion } from '../sqlite/migrate.ts'
import { BUSY_MS, createAlone, createCommandSteps, createDrive } from '../sqlite/run-steps.ts'
import type { Steps } from '../steps.ts'
import type { CommandDatabase } from './opened-store.ts'

const RETRY_MS = 100

type FolderPlace = {
  dataDir: string
  /** Makes a missing folder, key and database. Without this option a missing folder is refused. */
  create?: { keyFile: string | null } | undefined
  /**
   * Prevents servers from starting until the database is closed. Throws `conflict`, naming the server, while
   * one serves the folder.
   */
  isAlone?: boolean
}

/**
 * Opens the database without migrating it. When root runs it, the process becomes the owner of the folder,
 * and `owner` names that user. Throws `conflict` with the remedy when the folder cannot be used.
 */
export async function openFolderDatabase({ dataDir, create, isAlone = false }: FolderPlace) {
  const folder = dataFolder(dataDir)
  const owner = becomeOwner(folder.path)
  if (create !== undefined) prepareDataFolder(folder, create.keyFile)
  else requireDataFolder(folder)
  const lock = isAlone ? await lockFolder(folder, { patience: 0 }) : null
  try {
    const database = isAlone ? openChecked(folder, false) : openBeside(folder, create)
    return { ...operate(database, () => lock?.release()), owner }
  } catch (cause) {
    lock?.release()
    throw explainFailure(folder.database, cause)
  }
}

/** Opens the database beside a server. Waits a moment for a starting server to create or migrate it. */
function openBeside(folder: DataFolder, create: FolderPlace['create']): Database {
  const started = performance.now()
  for (;;) {
    let isServed = false
    try {
      return besideServer(folder, (served) => {
        isServed = served
        if (!served && create !== undefined && !holdsData(folder)) makeFilled(folder, create.keyFile)
        return openChecked(folder, served)
      })
    } catch (cause) {
      if (!isServed || performance.now() - started > BUSY_MS) throw cause
      Bun.sleepSync(RETRY_MS)
    }
  }
}

/** Makes the checks of a server's start. A running server has already checked the structure. */
function openChecked(folder: DataFolder, isServed: boolean): Database {
  if (!isServed) takeLog(folder)
  const database = openDatabase(folder.database, { create: false, busyTimeout: BUSY_MS })
  try {
    if (!isServed) requireIntact(database)
    requireCurrentSchema(database)
    createDrive(database)(refuseCopied())
    return database
  } catch (cause) {
    database.close(true)
    throw cause
  }
}

/**
 * Creates key and database as a server's first start does. The key comes first, because a key is never
 * created beside a database.
 */
function makeFilled(folder: DataFolder, keyFile: string | null): void {
  const keyring = readKeyring(folder, keyFile)
  makeDatabase(folder, (made) => createDrive(made)(enterKeys({ keyring, keyFile: keyFile ?? folder.key })))
}

export function operate(database: Database, onClosed: () => void): CommandDatabase {
  const drive = createDrive(database)
  return {
    // Remove no files here: a running server does, or the next start.
    steps: createCommandSteps(database, drive),
    alone: createAlone(database, drive),
    close: async () => {
      truncateLog(database)
      database.close(true)
      onClosed()
    },
  }
}

/** The schema version of a data folder. When root runs it, the process becomes the owner of the folder. */
export function readSchema(dataDir: string): number {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  const database = openForReading(folder, isServed(folder))
  try {
    return schemaVersion(database)
  } finally {
    database.close(true)
  }
}

type LookOptions = {
  isServed: boolean
  /** Checks the database whatever its size. A large one takes minutes. */
  isDeep: boolean
}

export type DatabaseReader = Pick<Steps, 'read'> & { close(): void }

/**
 * Opens the database read-only for a report. Throws the refusal of a start if the database cannot be served.
 * The caller closes it.
 */
export async function lookIntoDatabase(
  folder: DataFolder,
  { isServed, isDeep }: LookOptions,
): Promise<DatabaseReader> {
  try {
    const database = openForReading(folder, isServed)
    const drive = createDrive(database)
    try {
      requireCurrentSchema(database)
      drive(refuseCopied())
      requireIntact(database, isDeep ? Number.POSITIVE_INFINITY : undefined)
      // A running server has checked this at its start, and may know the folder by another path.
      if (!isServed) await requireHome(database, { folder, isLogLost: isLogLost(folder), ...REFUSING })
    } catch (cause) {
      database.close(true)
      throw cause
    }
    return { read: async (step) => drive(step()), close: () => database.close(true) }
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}

const REFUSING = { acceptMove: false, onWarning: () => undefined }

/**
 * Opens the database read-only. If it has no WAL it is complete, and is opened as immutable, because SQLite
 * would otherwise create one.
 */
function openForReading({ database: path }: DataFolder, isServed: boolean): Database {
  const isImmutable = !isServed && !existsSync(`${path}-wal`)
  const address = `${Bun.pathToFileURL(path).href}${isImmutable ? '?immutable=1' : ''}`
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  // Name the file instead of this internal address.
  Object.assign(database, { filename: path })
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return database
}
