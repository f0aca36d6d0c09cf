// Opens what is kept, for the one serving process.

import type { Database } from 'bun:sqlite'
import type { Keyring } from '../crypto/keyring.ts'
import { createMonotonicClock, type Now } from '../domain/time.ts'
import { createFileStore } from './files/file-store.ts'
import { createFiles } from './files/files.ts'
import {
  dataFolder,
  isReadableByOthers,
  prepareDataFolder,
  readKeyring,
  refuseBereft,
} from './folder/data-folder.ts'
import { type FolderLock, lockFolder } from './folder/folder-lock.ts'
import { createFreeSpace } from './folder/free-space.ts'
import { createReserve } from './folder/reserve.ts'
import { createAccountLinks } from './sqlite/accounts/account-links.ts'
import { createAccounts } from './sqlite/accounts/accounts.ts'
import { createApiTokens } from './sqlite/accounts/api-tokens.ts'
import { createSessions } from './sqlite/accounts/sessions.ts'
import { createTwoFactor } from './sqlite/accounts/two-factor.ts'
import { createCheckpointer, truncateLog } from './sqlite/engine/checkpoint.ts'
import { type Connection, explainFailure, openConnection } from './sqlite/engine/database.ts'
import { createGroupCommit, type OnStep } from './sqlite/engine/group-commit.ts'
import { createClockMarker, readClockMark, requireIntact, verifyKeys } from './sqlite/engine/instance.ts'
import { MIGRATIONS, migrate, requireOwnTables, schemaVersion } from './sqlite/engine/migrate.ts'
import { copyBeforeMigration, removeOldCopies } from './sqlite/engine/migration-copy.ts'
import { createDamage } from './sqlite/integrity/damage.ts'
import { requireIntactLog } from './sqlite/integrity/log-check.ts'
import { startScrub } from './sqlite/integrity/scrub.ts'
import { createAddressShares, mendAddressShares } from './sqlite/pushes/address-shares.ts'
import { createAuditRows } from './sqlite/pushes/audit-rows.ts'
import { createDoubtfulKeys } from './sqlite/pushes/doubtful-keys.ts'
import { createExpiry } from './sqlite/pushes/expiry.ts'
import { createFileRows } from './sqlite/pushes/file-rows.ts'
import { createIdempotencyKeys, createIdempotencyRows } from './sqlite/pushes/idempotency-keys.ts'
import { createPushKeys } from './sqlite/pushes/push-keys.ts'
import { createPushLists } from './sqlite/pushes/push-lists.ts'
import { createPushRemoval } from './sqlite/pushes/push-removal.ts'
import { createPushRows } from './sqlite/pushes/push-rows.ts'
import { createPushes } from './sqlite/pushes/pushes.ts'

const START_BUSY_MS = 5_000

export type StoreOptions = {
  dataDir: string
  keyFile: string | null
  systemNow: Now
  acceptClock: boolean
  /** Pushes that damage has hit are removed. */
  removeDamaged: boolean
  /** What the operator should know, in a sentence. */
  onWarning: (warning: string) => void
  /** Bytes of the disk that creating leaves free. */
  minFreeSpace: number
  /** Something went wrong in the background; the store goes on. */
  onError: (cause: unknown) => void
  /** Nothing may be trusted any more: the process must end. */
  onFatal: (cause: unknown) => void
  /** Told before and after everything that is made durable: tests end the process there. */
  onStep?: OnStep | undefined
}

export type Store = Awaited<ReturnType<typeof openStore>>

/** For the one serving process: makes folder, key and database when they are missing, and migrates. */
export async function openStore(options: StoreOptions) {
  const folder = dataFolder(options.dataDir)
  prepareDataFolder(folder, options.keyFile)
  const onWait = (holder: string) =>
    options.onWarning(`${folder.path} is in use: waiting for ${holder} to end`)
  const lock = await lockFolder(folder, { onWait })
  try {
    const keyring = readKeyring(folder, options.keyFile)
    requireIntactLog(folder.database)
    const connection = openConnection(folder.database, { create: true, busyTimeout: START_BUSY_MS })
    const timers: Timers = []
    try {
      requireIntact(connection)
      if (schemaVersion(connection.database) === 0) refuseBereft(folder)
      return serveFrom({ connection, keyring, lock, timers, options })
    } catch (cause) {
      for (const timer of timers) await timer.stop()
      connection.close()
      throw explainFailure(folder.database, cause)
    }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

/** What goes on in the background, to be stopped however a start ends. */
type Timers = { stop(): void | Promise<void> }[]

type Parts = {
  connection: Connection
  keyring: Keyring
  lock: FolderLock
  timers: Timers
  options: StoreOptions
}

function serveFrom({ connection, keyring, lock, timers, options }: Parts) {
  const { database } = connection
  const folder = dataFolder(options.dataDir)
  const version = schemaVersion(database)
  const isOld = version > 0 && version < MIGRATIONS.length
  const copy = isOld ? copyBeforeMigration({ ...options, folder, version, now: options.systemNow() }) : null
  migrate(database)
  requireOwnTables(database)
  verifyKeys(connection, keyring)
  mendAddressShares(connection)
  lock.opened()
  const mark = readClockMark(connection, { now: options.systemNow(), accept: options.acceptClock })
  const now = createMonotonicClock(options.systemNow, mark)
  truncateLog(database)
  database.run('PRAGMA busy_timeout = 0')

  const checkpointer = createCheckpointer(database, options)
  const freeSpace = createFreeSpace({
    path: options.dataDir,
    floor: options.minFreeSpace,
    isFull: () => reserve.isSpent(),
  })
  const reserve = createReserve({
    path: folder.reserve,
    measureFree: async () => (await freeSpace.measure()).free,
    onError: options.onError,
  })
  timers.push(checkpointer, reserve)
  const clock = createClockMarker(connection, now)
  const commits = createGroupCommit({
    database,
    beforeWorks: clock.mark,
    onUndone: clock.undo,
    onFull: () => {
      const hasRoom = reserve.spend()
      checkpointer.makeRoom()
      return hasRoom
    },
    onFatal: options.onFatal,
    ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
  })
  const { transact } = commits
  const audit = createAuditRows(connection)
  const fileRows = createFileRows(connection, () => setImmediate(removeDueFiles))
  const fileFolder = createFiles(folder.files, options.onStep)
  const files = createFileStore({ files: fileFolder, rows: fileRows, transact, now })
  fileRows.giveUpUnfinished(now())
  const keys = createPushKeys(connection)
  const onDestroyed = checkpointer.request
  const { onError } = options
  const doubtfulKeys = createDoubtfulKeys({ connection, keys, transact, onDestroyed, onError })
  const idempotency = createIdempotencyRows(connection, onDestroyed)
  const rows = createPushRows({
    connection,
    audit,
    keys,
    doubtfulKeys,
    files: fileRows,
    idempotency,
    onDestroyed,
  })
  const damage = createDamage(options.onError)
  const removal = createPushRemoval({ connection, rows, audit, doubtfulKeys, transact, now })
  const shared = {
    connection,
    rows,
    removal,
    files: fileRows,
    fileFolder,
    idempotency,
    transact,
    now,
    damage,
  }
  warnOf(options)
  timers.push(startScrub({ ...options, ...shared }))
  const accounts = createAccounts(shared)
  let closing = false

  /** As soon as their transaction is over. */
  function removeDueFiles(): void {
    if (!closing) files.removeDue().catch(options.onError)
  }

  async function close(): Promise<void> {
    closing = true
    await files.idle()
    await doubtfulKeys.idle()
    await commits.idle()
    for (const timer of timers) await timer.stop()
    truncateLog(database)
    connection.close()
    lock.release()
  }

  return {
    keyring,
    /** The clock of the app: the later of the system's and the last reading. */
    now,
    pushes: createPushes({ ...shared, shares: createAddressShares(connection) }),
    idempotencyKeys: createIdempotencyKeys(shared),
    lists: createPushLists(shared),
    audit,
    files,
    expiry: createExpiry(shared),
    accounts,
    apiTokens: createApiTokens(shared),
    sessions: createSessions(shared),
    accountLinks: createAccountLinks({ ...shared, accounts }),
    twoFactor: createTwoFactor(shared),
    damage,
    freeSpace,
    keepUp: commits.keepUp,
    /** What SQLite says while a server starts, as a matter for the operator. */
    explainFailure: (cause: unknown) => explainFailure(database.filename, cause),
    /** To be called once the start went well: copies from before earlier migrations are not needed any more. */
    confirmStart: () => removeOldCopies(folder, copy),
    /** Whether the database answers. */
    isAlive: () => canRead(database),
    close,
  }
}

/** False also when the database throws: whoever asks wants to know just that. */
function canRead(database: Database): boolean {
  try {
    return schemaVersion(database) > 0
  } catch {
    return false
  }
}

function warnOf({ dataDir, keyFile, removeDamaged, onWarning }: StoreOptions): void {
  const path = keyFile ?? dataFolder(dataDir).key
  if (isReadableByOthers(path))
    onWarning(`Other users of this machine can read the key file ${path}: chmod 600 it.`)
  if (removeDamaged)
    onWarning('Pushes that are found damaged are removed; it is told when all have been looked at.')
}
