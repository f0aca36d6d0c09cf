// Opens only the accounts, for a command that runs beside the server or without one.

import type { Keyring } from '../../crypto/keyring.ts'
import type { Now } from '../../domain/time.ts'
import {
  type DataFolder,
  dataFolder,
  holdsData,
  prepareDataFolder,
  requireDataFolder,
} from '../folder/data-folder.ts'
import { besideServer } from '../folder/folder-lock.ts'
import { readKeyring } from '../folder/key-file.ts'
import { becomeOwner } from '../folder/ownership.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { createImportLook } from '../pushes/imports.ts'
import { truncateLog } from '../sqlite/engine/checkpoint.ts'
import { type Connection, openConnection } from '../sqlite/engine/database.ts'
import { createGroupCommit } from '../sqlite/engine/group-commit.ts'
import { takeLog } from '../sqlite/engine/home.ts'
import { refuseCopied, requireIntact, requireKeys, verifyKeys } from '../sqlite/engine/instance.ts'
import { migrate, requireCurrentSchema, schemaVersion } from '../sqlite/engine/migrate.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import { createAccountOperations } from './operations.ts'

const COMMAND_BUSY_MS = 5_000
const RETRY_MS = 100

export type AccountStore = ReturnType<typeof openAccountStore>

export type AccountStoreOptions = {
  dataDir: string
  now: Now
  /** Makes a missing folder, key and database. Without this option a missing folder is refused. */
  create?: { keyFile: string | null } | undefined
}

/** For a command beside the server: migrates nothing. When root runs it, the process becomes the owner of the folder. */
export function openAccountStore({ dataDir, now, create }: AccountStoreOptions) {
  const folder = dataFolder(dataDir)
  const owner = becomeOwner(folder.path)
  if (create !== undefined) prepareDataFolder(folder, create.keyFile)
  else requireDataFolder(folder)
  const connection = openBeside(folder, create)
  const onFatal = (cause: unknown) => {
    throw cause
  }
  const { transact } = createGroupCommit({ database: connection.database, onFatal })
  // A command removes no files: a running server does, or the next start. `close` empties the write-ahead log.
  const steps = createSteps(connection.database, transact, () => undefined)
  const { accounts, apiTokens, twoFactor } = createAccountOperations({ steps, now, setupLinks: 1 })
  const look = createImportLook(steps)
  const close = async () => {
    truncateLog(connection.database)
    connection.close()
  }
  /** `owner` names the user as whom root goes on; null when the process has kept its user. */
  return {
    ...{ accounts, apiTokens, twoFactor, owner, close },
    look: { ...look, requireKeys: async (keyring: Keyring) => void requireKeys(connection, keyring) },
  }
}

/**
 * Checks the database as a server does at its start. When a server runs, it has done so already; one that is only starting gets
 * a moment to make or upgrade the database.
 */
export function openBeside(folder: DataFolder, create?: AccountStoreOptions['create']): Connection {
  const started = performance.now()
  for (;;) {
    let isServed = false
    try {
      return besideServer(folder, (served) => {
        isServed = served
        if (served) return openChecked(folder)
        if (create !== undefined && !holdsData(folder)) makeDatabase(folder, create.keyFile)
        takeLog(folder)
        return openChecked(folder, requireIntact)
      })
    } catch (cause) {
      if (!isServed || performance.now() - started > COMMAND_BUSY_MS)
        throw explainFailure(folder.database, cause)
      Bun.sleepSync(RETRY_MS)
    }
  }
}

function openChecked(folder: DataFolder, check: (connection: Connection) => void = () => undefined) {
  const connection = openConnection(folder.database, { create: false, busyTimeout: COMMAND_BUSY_MS })
  try {
    check(connection)
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
  const connection = openConnection(folder.database, { create: true, busyTimeout: COMMAND_BUSY_MS })
  try {
    migrate(connection.database)
    verifyKeys(connection, keyring)
  } finally {
    connection.close()
  }
}

/** The schema version of a data folder. When root runs it, the process becomes the owner of the folder. */
export function readSchema(dataDir: string): number {
  const folder = dataFolder(dataDir)
  becomeOwner(folder.path)
  requireDataFolder(folder)
  return besideServer(folder, (isServed) => {
    if (!isServed) takeLog(folder)
    const connection = openConnection(folder.database, { create: false, busyTimeout: COMMAND_BUSY_MS })
    try {
      return schemaVersion(connection.database)
    } finally {
      connection.close()
    }
  })
}
