// Opens the database of a data folder for a command: beside its server, in its place, or only for reading.

import { constants, Database } from 'bun:sqlite'
import { existsSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/bun-sqlite'
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
import { truncateLog } from '../sqlite/engine/checkpoint.ts'
import { type Connection, openConnection } from '../sqlite/engine/database.ts'
import { createGroupCommit } from '../sqlite/engine/group-commit.ts'
import { isLogLost, requireHome, takeLog } from '../sqlite/engine/home.ts'
import {
  readClockMark,
  refuseCopied,
  requireIntact,
  requireKeys,
  verifyKeys,
} from '../sqlite/engine/instance.ts'
import { migrate, requireCurrentSchema, schemaVersion } from '../sqlite/engine/migrate.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import type { Step } from '../steps.ts'
import type { CommandDatabase, Keys } from './opened-store.ts'

/** Milliseconds that a command waits for another process. */
export const BUSY_MS = 5_000
const RETRY_MS = 100

export type FolderPlace = {
  dataDir: string
  /** Makes a missing folder, key and database. Without this option a missing folder is refused. */
  create?: { keyFile: string | null } | undefined
  /** Keeps servers away until it is closed. Throws `conflict`, naming it, while one serves the folder. */
  isAlone?: boolean
}

/**
 * Migrates nothing. When root runs it, the process becomes the owner of the folder, whom `owner` names then. Throws `conflict`, with
 * what helps, when the folder cannot be used.
 */
export async function openFolderDatabase({ dataDir, create, isAlone = false }: FolderPlace) {
  const folder = dataFolder(dataDir)
  const owner = becomeOwner(folder.path)
  if (create !== undefined) prepareDataFolder(folder, create.keyFile)
  else requireDataFolder(folder)
  const lock = isAlone ? await lockFolder(folder, { patience: 0 }) : null
  try {
    const connection = isAlone ? openChecked(folder, false) : openBeside(folder, create)
    return { ...operate(connection, () => lock?.release()), owner }
  } catch (cause) {
    lock?.release()
    throw explainFailure(folder.database, cause)
  }
}

/** A server that is only starting gets a moment to make or upgrade the database. */
function openBeside(folder: DataFolder, create: FolderPlace['create']): Connection {
  const started = performance.now()
  for (;;) {
    let isServed = false
    try {
      return besideServer(folder, (served) => {
        isServed = served
        if (!served && create !== undefined && !holdsData(folder)) makeDatabase(folder, create.keyFile)
        return openChecked(folder, served)
      })
    } catch (cause) {
      if (!isServed || performance.now() - started > BUSY_MS) throw cause
      Bun.sleepSync(RETRY_MS)
    }
  }
}

/** Checks what a server checks at its start. One that runs has looked at the structure already. */
function openChecked(folder: DataFolder, isServed: boolean): Connection {
  if (!isServed) takeLog(folder)
  const connection = openConnection(folder.database, { create: false, busyTimeout: BUSY_MS })
  try {
    if (!isServed) requireIntact(connection)
    requireCurrentSchema(connection.database)
    refuseCopied(connection)
    return connection
  } catch (cause) {
    connection.close()
    throw cause
  }
}

/** As the first start of a server does. Makes the key first, because no key is ever made beside a database. */
function makeDatabase(folder: DataFolder, keyFile: string | null): void {
  const keyring = readKeyring(folder, keyFile)
  const connection = openConnection(folder.database, { create: true, busyTimeout: BUSY_MS })
  try {
    migrate(connection.database)
    verifyKeys(connection, keyring)
  } finally {
    connection.close()
  }
}

/** `transactAlone` runs steps within one transaction, with other work between them. */
export function operate(connection: Connection, onClosed: () => void) {
  const { database } = connection
  const onFatal = (cause: unknown) => {
    throw cause
  }
  const { transact, transactAlone } = createGroupCommit({ database, onFatal })
  // A command removes no files: a running server does, or the next start. `close` empties the write-ahead log.
  const steps = createSteps(database, transact, () => undefined)
  return {
    steps,
    transactAlone,
    requireKeys: async ({ keyring }: Keys) => void requireKeys(connection, keyring),
    changeKeys: <T>(step: () => Step<T>, { keyring }: Keys) =>
      transact(() => {
        verifyKeys(connection, keyring)
        return steps.within(step())
      }),
    close: async () => {
      truncateLog(database)
      connection.close()
      onClosed()
    },
  } satisfies CommandDatabase & Record<string, unknown>
}

/** The schema version of a data folder. When root runs it, the process becomes the owner of the folder. */
export function readSchema(dataDir: string): number {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  const { database, close } = openForReading(folder, isServed(folder))
  try {
    return schemaVersion(database)
  } finally {
    close()
  }
}

export type LookOptions = {
  isServed: boolean
  /** Checks a database of any size, which takes minutes for a large one. */
  isDeep: boolean
}

export type DatabaseLook = Awaited<ReturnType<typeof lookIntoDatabase>>

/**
 * For a report: changes nothing. Throws, in the words of a start, what keeps the database from being served. The caller closes it.
 */
export async function lookIntoDatabase(folder: DataFolder, { isServed, isDeep }: LookOptions) {
  try {
    const connection = openForReading(folder, isServed)
    try {
      requireCurrentSchema(connection.database)
      refuseCopied(connection)
      requireIntact(connection, isDeep ? Number.POSITIVE_INFINITY : undefined)
      // The server that runs has looked, and may know the folder by another path.
      if (!isServed) await requireHome(connection, { folder, isLogLost: isLogLost(folder), ...REFUSING })
    } catch (cause) {
      connection.close()
      throw cause
    }
    const { steps, requireKeys } = operate(connection, () => undefined)
    return {
      ...{ read: steps.read, requireKeys, close: connection.close },
      readClockMark: (now: number) => readClockMark(connection, { now, accept: false }),
    }
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}

const REFUSING = { acceptMove: false, onWarning: () => undefined }

/** A database without a log is opened as immutable: it is complete then, and reading it otherwise would create a log file. */
function openForReading({ database: path }: DataFolder, isServed: boolean): Connection {
  const isImmutable = !isServed && !existsSync(`${path}-wal`)
  const address = `${Bun.pathToFileURL(path).href}${isImmutable ? '?immutable=1' : ''}`
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  // Refusals name the file, and not this address.
  Object.assign(database, { filename: path })
  database.run(`PRAGMA busy_timeout = ${BUSY_MS}`)
  return { database, orm: drizzle({ client: database }), close: () => database.close(true) }
}
