// Opens the store for the one serving process, in this order: verify, clock, disk, commits, operations.

import type { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import type { Keyring } from '../../crypto/keyring.ts'
import { type Clock, createClock, type Doubt, explainDoubt } from '../../domain/clock.ts'
import type { Job } from '../../domain/job.ts'
import type { Now } from '../../domain/time.ts'
import type { OnStep } from '../every-engine/durable-steps.ts'
import { giveUpAbandoned } from '../files/file-records.ts'
import { openFiles } from '../files/open-files.ts'
import { type DataFolder, dataFolder, prepareDataFolder } from '../folder/data-folder.ts'
import { createFreeSpace, createReserve, findWriteProblem, makeRoomToStart } from '../folder/disk-space.ts'
import { type FolderLock, lockFolder } from '../folder/folder-lock.ts'
import { findKeyProblem, isReadableByOthers, readKeyring } from '../folder/key-file.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import type { ImportStore } from '../import-face.ts'
import { createImport, createImportLook } from '../pushes/imports.ts'
import { createCheckpointer, truncateLog } from '../sqlite/engine/checkpoint.ts'
import { createClockKeeping } from '../sqlite/engine/clock-keeping.ts'
import { type Connection, openConnection } from '../sqlite/engine/database.ts'
import { createGroupCommit, type GroupCommit } from '../sqlite/engine/group-commit.ts'
import { leave, takeLog, watchPlace } from '../sqlite/engine/home.ts'
import { createClockMarker, readClockMark } from '../sqlite/engine/instance.ts'
import { schemaVersion } from '../sqlite/engine/migrate.ts'
import { removeOldCopies } from '../sqlite/engine/migration-copy.ts'
import { createSteps } from '../sqlite/engine/run-steps.ts'
import { removeCopyPlaces } from './backup-source.ts'
import type { CommonStoreOptions, OpenedStore } from './opened-store.ts'
import { createOperations } from './operations.ts'
import { type Verifying, verifyDatabase } from './verify-database.ts'

const START_BUSY_MS = 5_000

export type StoreOptions = CommonStoreOptions &
  Verifying['options'] & {
    keyFile: string | null
    clock: { systemNow: Now }
    /** The database may be corrupt: the process must end. */
    onFatal: (cause: unknown) => void
    /** Called after each group commit with the number of changes that it made durable. */
    onCommitted?: ((batch: { works: number; durationMs: number }) => void) | undefined
    /** Called before and after each durable step, so that tests can end the process there. */
    onStep?: OnStep | undefined
  }

/** Makes missing folder, key and database, and migrates. */
export async function openStore(options: StoreOptions): Promise<OpenedStore> {
  const folder = dataFolder(options.dataDir)
  prepareDataFolder(folder, options.keyFile)
  makeRoomToStart(folder.reserve)
  const onWait = (holder: string) =>
    options.onWarning(`${folder.path} is in use: waiting for ${holder} to end`)
  const lock = await lockFolder(folder, { onWait })
  try {
    removeCopyPlaces(folder)
    const keyring = readKeyring(folder, options.keyFile)
    const isLogLost = takeLog(folder)
    const connection = openConnection(folder.database, { create: true, busyTimeout: START_BUSY_MS })
    try {
      const opening = { connection, keyring, folder, lock, options }
      const copy = await verifyDatabase({ ...opening, isLogLost })
      return await openParts(opening, copy)
    } catch (cause) {
      if (!isLogLost) rmSync(folder.serving, { force: true })
      connection.close()
      throw explainFailure(folder.database, cause)
    }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

type Opening = {
  connection: Connection
  keyring: Keyring
  folder: DataFolder
  lock: FolderLock
  options: StoreOptions
}

async function openParts(opening: Opening, copy: string | null) {
  const { connection, keyring, folder, lock, options } = opening
  const { database } = connection
  const clock = readClock(opening, (doubt) => keeping.changed(doubt))
  const disk = watchDisk(opening)
  const { forgetMark, ...commits } = openCommits(opening, { clock, disk })
  const { steps, idle, ...operations } = await openOperations(opening, { clock, disk, commits })
  const keeping = createClockKeeping({
    ...{ ...options, steps, clock, forgetMark },
    systemNow: options.clock.systemNow,
  })
  warnOf(options)
  const doubt = clock.doubt()
  // A server tells it with the rest of its health.
  if (doubt !== null && !options.isServer) options.onWarning(explainDoubt(doubt))

  async function close(): Promise<void> {
    await idle()
    await keeping.close()
    if (options.isServer) await leave(connection, { ...options, folder })
    truncateLog(database)
    connection.close()
    lock.release()
  }

  return {
    ...operations,
    keyring,
    now: clock.now,
    clock: { trusted: clock.trusted, doubt: clock.doubt, accept: keeping.accept },
    freeSpace: disk.freeSpace,
    isOverloaded: commits.isOverloaded,
    commitOverdue: commits.commitOverdue,
    /** Changes that wait for a group commit. */
    waitingWorks: commits.waiting,
    jobs: [disk.checkpointer, disk.reserve, keeping.job] as readonly Job[],
    /** Explains an error of SQLite during the start to the operator. */
    explainFailure: (cause: unknown) => explainFailure(database.filename, cause),
    /** Call this once the start went well: removes copies made before earlier migrations. */
    confirmStart: () => removeOldCopies(folder, copy),
    /** Whether the database answers. */
    isAlive: async () => commits.isInPlace() && canRead(database),
    findWriteProblem: async () =>
      (await findWriteProblem([folder.path, folder.database])) ?? commits.findWriteProblem(),
    findKeyProblem: () => findKeyProblem(options.keyFile ?? folder.key, keyring),
    database: null,
    close,
  }
}

/** Throws when the system's clock is more than a day behind the last reading. Reports doubts to `onChange`. */
function readClock({ connection, options }: Opening, onChange: (doubt: Doubt | null) => void): Clock {
  const { systemNow, uptime, accept } = options.clock
  const stored = readClockMark(connection, { now: systemNow(), accept })
  const maxGap = accept ? Number.POSITIVE_INFINITY : options.clock.maxGap
  return createClock({ systemNow, uptime, stored, maxGap, onChange })
}

type Disk = ReturnType<typeof watchDisk>

/** Empties the log of the last process, and makes what keeps free space and the log within bounds. */
function watchDisk({ connection: { database }, folder, options }: Opening) {
  truncateLog(database)
  const checkpointer = createCheckpointer(database, options)
  const freeSpace = createFreeSpace({
    path: options.dataDir,
    floor: options.minFreeSpace,
    isFull: () => reserve.isSpent(),
  })
  const measureFree = async () => (await freeSpace.measure()).free
  const reserve = createReserve({ path: folder.reserve, measureFree })
  return { checkpointer, freeSpace, reserve }
}

function openCommits({ connection, options }: Opening, { clock, disk }: { clock: Clock; disk: Disk }) {
  const { database } = connection
  // Waiting for a lock would freeze the event loop: group commit tries again by timer instead.
  database.run('PRAGMA busy_timeout = 0')
  const marker = createClockMarker(connection, clock)
  const isInPlace = watchPlace(database.filename)
  const beforeWorks = () => {
    if (!isInPlace()) {
      options.onFatal(REMOVED)
      throw REMOVED
    }
    marker.mark()
  }
  const commits = createGroupCommit({
    database,
    beforeWorks,
    onUndone: marker.undo,
    forceWrite: marker.undo,
    onFull: () => {
      const hasRoom = disk.reserve.spend()
      disk.checkpointer.makeRoom()
      return hasRoom
    },
    onFatal: options.onFatal,
    onCommitted: options.onCommitted,
    ...(options.onStep === undefined ? {} : { onStep: options.onStep }),
  })
  return { ...commits, isInPlace, forgetMark: marker.undo }
}

const REMOVED = new Error('The database or its log was removed or replaced while it was served')

/** Names the one process that serves in the rows of its uploads. */
const THIS_PROCESS = new Uint8Array(1)

type OperationsOptions = { clock: Clock; disk: Disk; commits: GroupCommit }

/** `idle` resolves when no operation is under way any more. */
async function openOperations(opening: Opening, { clock, disk, commits }: OperationsOptions) {
  const { now, trusted } = clock
  const { connection, options, keyring } = opening
  const { transact } = commits
  const steps = createSteps(connection.database, transact, (effect) => {
    if (effect === 'due') files.removeDue()
    else disk.checkpointer.request()
  })
  await steps.write(() => giveUpAbandoned(() => false, now()))
  const place = { path: opening.folder.files, address: 'the data folder', findOther: async () => null }
  const files = await openFiles({ ...options, ...place, steps, node: THIS_PROCESS, now })
  const parts = { ...options, steps, now, trusted, keyring, setupLinks: 1, hasRoom: disk.freeSpace.hasRoom }
  const step = createImport(async (one) => steps.within(one), now)
  const imports: ImportStore = {
    importAll: (work) => commits.transactAlone(() => work(step)),
    isKnown: createImportLook(steps).isKnown,
  }

  async function idle(): Promise<void> {
    await files.close()
    await commits.idle()
  }

  return {
    ...createOperations(parts),
    imports,
    steps,
    files: files.store,
    bucket: files.bucket,
    idle,
  }
}

/** False also when the database throws. */
function canRead(database: Database): boolean {
  try {
    return schemaVersion(database) > 0
  } catch {
    return false
  }
}

function warnOf({ dataDir, keyFile, onWarning }: StoreOptions): void {
  const path = keyFile ?? dataFolder(dataDir).key
  if (isReadableByOthers(path))
    onWarning(`Other users of this machine can read the key file ${path}: chmod 600 it.`)
}
