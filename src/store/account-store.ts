// Opens the accounts alone, for a command beside the server or without one.

import type { Now } from '../domain/time.ts'
import {
  type DataFolder,
  dataFolder,
  holdsData,
  prepareDataFolder,
  readKeyring,
  requireDataFolder,
} from './folder/data-folder.ts'
import { whileOpening } from './folder/folder-lock.ts'
import { becomeOwner } from './folder/ownership.ts'
import { createAccounts } from './sqlite/accounts/accounts.ts'
import { createApiTokens } from './sqlite/accounts/api-tokens.ts'
import { createTwoFactor } from './sqlite/accounts/two-factor.ts'
import { truncateLog } from './sqlite/engine/checkpoint.ts'
import { type Connection, explainFailure, openConnection } from './sqlite/engine/database.ts'
import { createGroupCommit } from './sqlite/engine/group-commit.ts'
import { requireIntact, verifyKeys } from './sqlite/engine/instance.ts'
import { migrate, requireCurrentSchema } from './sqlite/engine/migrate.ts'
import { createDamage } from './sqlite/integrity/damage.ts'
import { requireIntactLog } from './sqlite/integrity/log-check.ts'
import { createAuditRows } from './sqlite/pushes/audit-rows.ts'
import { createDoubtfulKeys } from './sqlite/pushes/doubtful-keys.ts'
import { createFileRows } from './sqlite/pushes/file-rows.ts'
import { createIdempotencyRows } from './sqlite/pushes/idempotency-keys.ts'
import { createPushKeys } from './sqlite/pushes/push-keys.ts'
import { createPushRemoval } from './sqlite/pushes/push-removal.ts'
import { createPushRows } from './sqlite/pushes/push-rows.ts'

const COMMAND_BUSY_MS = 5_000

export type AccountStore = ReturnType<typeof openAccountStore>

export type AccountStoreOptions = {
  dataDir: string
  now: Now
  onError: (cause: unknown) => void
  /** Makes folder, key and database where there are none; without it, that is refused. */
  create?: { keyFile: string | null } | undefined
}

/** For a command beside the server: migrates nothing. When root runs it, the process becomes the owner of the folder. */
export function openAccountStore({ dataDir, now, onError, create }: AccountStoreOptions) {
  const folder = dataFolder(dataDir)
  const owner = becomeOwner(folder.path)
  if (create !== undefined) prepareDataFolder(folder, create.keyFile)
  else requireDataFolder(folder)
  const connection = openBeside(folder, create)
  const onFatal = (cause: unknown) => {
    throw cause
  }
  const { transact } = createGroupCommit({ database: connection.database, onFatal })
  const audit = createAuditRows(connection)
  const files = createFileRows(connection, () => undefined)
  const keys = createPushKeys(connection)
  const onDestroyed = () => undefined
  const doubtfulKeys = createDoubtfulKeys({ connection, keys, transact, onDestroyed, onError })
  const idempotency = createIdempotencyRows(connection, onDestroyed)
  const rows = createPushRows({ connection, audit, keys, doubtfulKeys, files, idempotency, onDestroyed })
  const close = async () => {
    await doubtfulKeys.idle()
    truncateLog(connection.database)
    connection.close()
  }
  const removal = createPushRemoval({ connection, rows, audit, doubtfulKeys, transact, now })
  const shared = { connection, rows, removal, transact, now, damage: createDamage(onError) }
  return {
    accounts: createAccounts(shared),
    apiTokens: createApiTokens(shared),
    twoFactor: createTwoFactor(shared),
    /** Whom root has become; null when nothing had to change. */
    owner,
    close,
  }
}

/** A server has looked at the folder before opening it; where there is none, a command does. */
function openBeside(folder: DataFolder, create: AccountStoreOptions['create']): Connection {
  try {
    return whileOpening(folder, ({ isServed }) => {
      if (create !== undefined && !isServed && !holdsData(folder)) makeDatabase(folder, create.keyFile)
      // To open a damaged log is to lose what follows the damage.
      if (!isServed) requireIntactLog(folder.database)
      const connection = openConnection(folder.database, { create: false, busyTimeout: COMMAND_BUSY_MS })
      try {
        if (!isServed) requireIntact(connection)
        requireCurrentSchema(connection.database)
        return connection
      } catch (cause) {
        connection.close()
        throw cause
      }
    })
  } catch (cause) {
    throw explainFailure(folder.database, cause)
  }
}

/** As the first start of a server does. The key comes first: none is ever made beside a database. */
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
