// The parts that run on a verified SQLite database, in this order: clock, disk, commits, files, operations.

import type { Database } from 'bun:sqlite'
import { type Clock, createClock, explainDoubt } from '../../domain/clock.ts'
import type { Now } from '../../domain/time.ts'
import { giveUpAbandoned, openFiles } from '../files/open-files.ts'
import type { DataFolder } from '../folder/data-folder.ts'
import { createFreeSpace, createReserve, findWriteProblem } from '../folder/disk-space.ts'
import { findKeyProblem } from '../folder/key-file.ts'
import { type Keys, readClockMark } from '../instance.ts'
import { createBell } from '../notices/outbox.ts'
import { createOperations } from '../operations.ts'
import { createImports } from '../pushes/imports.ts'
import { type Checkpointer, createCheckpointer, truncateLog } from '../sqlite/checkpoint.ts'
import { createClockKeeping, createClockMarker } from '../sqlite/clock-keeping.ts'
import { openLogSync } from '../sqlite/disk-threads.ts'
import { createGroupCommit } from '../sqlite/group-commit.ts'
import { leave, watchPlace } from '../sqlite/home.ts'
import { openLinks } from '../sqlite/links.ts'
import { schemaVersion } from '../sqlite/migrate.ts'
import { removeOldCopies } from '../sqlite/migration-copy.ts'
import { createAlone, createDrive, createSteps } from '../sqlite/run-steps.ts'
import type { Effect } from '../steps.ts'
import type { CommonStoreOptions, OpenedStore } from './opened-store.ts'

export type StoreOptions = CommonStoreOptions & {
  /** The path of the key file; null for the one in the data folder. */
  keyFile: string | null
  clock: { systemNow: Now }
  /** Accepts a moved or copied folder from now on. */
  acceptMove: boolean
  /** Whether this process will serve the folder. A command neither checks nor changes its marks. */
  isServer: boolean
  /** Called if the database may be corrupt: the process must end. */
  onFatal: (cause: unknown) => void
  /** Called after each group commit with the number of changes that it made durable. */
  onCommitted?: ((batch: { steps: number; durationMs: number }) => void) | undefined
}

export type FolderStoreParts = { database: Database; keys: Keys; folder: DataFolder; options: StoreOptions }

/** The node id of the only serving process, in the rows of its uploads. */
const THIS_PROCESS = new Uint8Array(1)

/** Opens the parts. `copy` names the copy made before a migration, if any. */
export async function openParts(opening: FolderStoreParts, copy: string | null): Promise<OpenedStore> {
  const { database, keys, folder, options } = opening
  const { keyring, keyFile } = keys
  const drive = createDrive(database)
  const clock = createClock({
    ...options.clock,
    stored: drive(readClockMark()),
    onChange: (doubt) => keeping.changed(doubt),
  })
  const { now, trusted, doubt } = clock
  const { commits, links, checkpointer, reserve, log, isInPlace, forgetMark } = openWriting(opening, clock)
  const { path } = folder
  const freeSpace = createFreeSpace({ path, floor: options.minFreeSpace, isFull: reserve.isSpent })
  // Measure before the first request, which would otherwise not be refused on a full disk.
  await Promise.resolve()
    .then(freeSpace.require)
    .catch(() => undefined)
  const { ring, whenQueued } = createBell()
  const onEffect = (effect: Effect) => {
    if (effect === 'due') files.removeDue()
    else if (effect === 'queued') ring()
    else checkpointer.request()
  }
  const { transact, durable } = commits
  const requireFloor = freeSpace.require
  const { glance, ...steps } = createSteps({ drive, transact, onEffect, settled: durable, requireFloor })
  await steps.write(() => giveUpAbandoned(() => false, now()))
  const place = { path: folder.files, address: 'the data folder', findOther: async () => null }
  const files = await openFiles({ ...options, ...place, steps, node: THIS_PROCESS, now })
  const { systemNow } = options.clock
  const keeping = createClockKeeping({ ...options, steps, clock, forgetMark, systemNow })
  const doubted = doubt()
  // A server reports this with the rest of its health.
  if (doubted !== null && !options.isServer) options.onWarning(explainDoubt(doubted))

  async function close(): Promise<void> {
    await files.close()
    await links.close()
    await commits.idle()
    await keeping.close()
    await log?.close()
    if (options.isServer) await leave(database, folder)
    truncateLog(database)
    database.close(true)
  }

  return {
    ...createOperations({
      ...options,
      steps,
      glance,
      now,
      trusted,
      keyring,
      node: THIS_PROCESS,
      setupLinks: 1,
      hasRoom: freeSpace.hasRoom,
    }),
    imports: createImports({ steps, now, alone: createAlone(database, drive) }),
    ...{ keyring, now, freeSpace, files: files.store, bucket: files.bucket },
    clock: { trusted, doubt, accept: keeping.accept },
    ...{ isOverloaded: commits.isOverloaded, commitOverdue: commits.commitOverdue },
    waitingChanges: commits.waiting,
    whenQueued,
    jobs: [checkpointer, reserve, keeping.job],
    confirmStart: () => removeOldCopies(folder, copy),
    isAlive: async () => isInPlace() && canRead(database),
    findWriteProblem: async () =>
      (await findWriteProblem([path, folder.database])) ?? commits.findWriteProblem(),
    findKeyProblem: () => findKeyProblem(keyFile, keyring),
    database: null,
    close,
  }
}

/** Opens the group commit, with its sync, its checkpoints and its reserve of disk space. */
function openWriting({ database, folder, options }: FolderStoreParts, clock: Clock) {
  const checkpointer = createCheckpointer(database, options)
  const reserve = createReserve(folder.reserve)
  const { mark, undo: forgetMark } = createClockMarker(database, clock)
  const isInPlace = watchPlace(database.filename)
  const links = openLinks(database)
  const log = options.isServer && SYNCS_APART ? syncApart(database, checkpointer) : null
  // Do not wait for a lock, because that would freeze the event loop: group commit retries by a timer.
  database.run('PRAGMA busy_timeout = 0')
  const commits = createGroupCommit({
    database,
    sync: log?.sync,
    noticeSync: log?.notice,
    beforeWorks: () => {
      if (!isInPlace()) {
        options.onFatal(REMOVED)
        throw REMOVED
      }
      mark()
    },
    onUndone: forgetMark,
    forceWrite: forgetMark,
    onFull: () => {
      const hasRoom = reserve.spend()
      checkpointer.makeRoom()
      return hasRoom
    },
    onFatal: options.onFatal,
    onCommitted: (batch) => {
      options.onCommitted?.(batch)
      links.noteCommitted(batch.steps, commits.transact)
    },
  })
  return { commits, links, checkpointer, reserve, log, isInPlace, forgetMark }
}

/** Whether fdatasync equals SQLite's own sync. macOS needs more, and Windows is untested. */
const SYNCS_APART = process.platform === 'linux'
/**
 * The size at which the WAL is checkpointed. It may double until then, because writes continue. On a full
 * disk twice its size must fit into the reserve of disk-space.ts, so 8 MiB is the maximum.
 */
const LOG_BYTES = 4 * 1024 * 1024

/** Lets commits write the WAL without waiting for the disk, until `close`. */
function syncApart(database: Database, { shorten }: Checkpointer) {
  const log = openLogSync(database.filename, LOG_BYTES)
  database.run('PRAGMA wal_autocheckpoint = 0')
  database.run('PRAGMA synchronous = NORMAL')

  let ending: Promise<void> | null = null

  async function sync(): Promise<void> {
    if (ending !== null) await ending
    else if (await log.sync()) shorten()
  }

  /** Lets each commit wait for the disk again, because the thread has ended. */
  async function close(): Promise<void> {
    database.run('PRAGMA synchronous = FULL')
    ending = log.close()
    await ending
  }

  return { sync, notice: log.notice, close }
}

const REMOVED = new Error('The database or its log was removed or replaced while it was served')

/** False also when the database throws. */
function canRead(database: Database): boolean {
  try {
    return schemaVersion(database) > 0
  } catch {
    return false
  }
}
