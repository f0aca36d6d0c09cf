// A data folder as the source of a move, and what becomes of it.

import { existsSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import { type DataFolder, dataFolder, holdsData, requireDataFolder } from '../folder/data-folder.ts'
import { type FolderLock, lockFolder } from '../folder/folder-lock.ts'
import { readMovedAway, requireNotMoved, writeMovedAway } from '../folder/move-marks.ts'
import { explainFailure } from '../folder/sqlite-failures.ts'
import { type SourceEnd, sourceInUse } from '../moving/ends.ts'
import type { MovingBucketFolder } from '../moving-face.ts'
import { truncateLog } from '../sqlite/engine/checkpoint.ts'
import { type Connection, openConnection } from '../sqlite/engine/database.ts'
import { readHomeMark, requireHome } from '../sqlite/engine/home.ts'
import { requireIntact } from '../sqlite/engine/instance.ts'
import { requireCurrentSchema } from '../sqlite/engine/migrate.ts'
import { readBucketFolder, writeBucketFolder } from '../sqlite/files/bucket-folder.ts'
import { requireIntactLog } from '../sqlite/integrity/log-check.ts'
import { destroyContents } from '../sqlite/moving/destroy.ts'
import { createMovingReader } from '../sqlite/moving/moving-rows.ts'

const BUSY_MS = 5_000

export type FolderOptions = {
  path: string
  /** A hash of the id of this machine; null when it has none. */
  machine: string | null
  onWarning: (warning: string) => void
}

/** Throws `conflict` for a folder that is served, damaged, a copy, or of another version. */
export async function openFolderSource(options: FolderOptions): Promise<SourceEnd> {
  const folder = dataFolder(resolve(options.path))
  requireSource(folder)
  return whileLocked(folder, options, (lock) => {
    requireIntactLog(folder.database)
    const connection = openChecked(folder, { create: false }, (opened) =>
      checkSource(opened, folder, options),
    )
    return sourceOf(connection, { folder, lock, mark: markOf(folder, connection) })
  })
}

function requireSource(folder: DataFolder): void {
  requireNotMoved(folder.path)
  if (!holdsData(folder))
    throw new DomainError(
      'conflict',
      `There is no Oncebox data in ${folder.path}. Name the right folder with --from.`,
    )
  requireDataFolder(folder)
}

function checkSource(
  connection: Connection,
  folder: DataFolder,
  { machine, onWarning }: Pick<FolderOptions, 'machine' | 'onWarning'>,
): void {
  requireIntact(connection)
  requireCurrentSchema(connection.database)
  requireHome(connection, { folder, machine, acceptMove: false, onWarning })
  truncateLog(connection.database)
}

export type Held = { folder: DataFolder; lock: FolderLock; mark: string }

function sourceOf(connection: Connection, { folder, lock, mark }: Held): SourceEnd {
  return {
    name: folder.path,
    reader: createMovingReader(connection),
    mark,
    leave: async (away) => {
      if (markOf(folder, connection) !== mark) throw new DomainError('conflict', sourceInUse(folder.path))
      await writeMovedAway(folder.path, away)
    },
    settleFiles: async (bucketFolder) => writeBucketFolder(connection, bucketFolder),
    close: async () => {
      connection.close()
      lock.release()
    },
  }
}

/**
 * Both locks are kept: neither servers nor account commands change anything meanwhile. They are given back when the work
 * throws.
 */
export async function whileLocked<T>(
  folder: DataFolder,
  { onWarning }: Pick<FolderOptions, 'onWarning'>,
  work: (lock: FolderLock) => T,
): Promise<T> {
  const lock = await lockFolder(folder, { onWait: waitFor(folder, onWarning), isMove: true })
  try {
    return work(lock)
  } catch (cause) {
    lock.release()
    throw explainFailure(folder.database, cause)
  }
}

/** Closes the connection again when the check throws. */
export function openChecked(
  folder: DataFolder,
  { create }: { create: boolean },
  check: (connection: Connection) => void,
): Connection {
  const connection = openConnection(folder.database, { create, busyTimeout: BUSY_MS })
  try {
    check(connection)
    return connection
  } catch (cause) {
    connection.close()
    throw cause
  }
}

/** Every start of a server and every change of a row leaves another one. */
function markOf(folder: DataFolder, connection: Connection): string {
  const { mtimeNs, size } = statSync(folder.database, { bigint: true })
  return `${readHomeMark(connection)} ${mtimeNs} ${size}`
}

const waitFor = (folder: DataFolder, onWarning: (warning: string) => void) => (holder: string) =>
  onWarning(`${folder.path} is in use: waiting for ${holder} to end`)

/** Whether a folder has data that a server can be started with. */
export function isFilledFolder(path: string): boolean {
  const folder = dataFolder(resolve(path))
  return readMovedAway(folder.path) === null && holdsData(folder)
}

/** The folder of files in a bucket that a folder had which was moved away; null for none. */
export function readFormerBucketFolder(path: string): MovingBucketFolder | null {
  const { database } = dataFolder(resolve(path))
  if (!existsSync(database)) return null
  const connection = openConnection(database, { create: false, busyTimeout: BUSY_MS })
  try {
    return readBucketFolder(connection)
  } finally {
    connection.close()
  }
}

/** Destroys what a folder holds that was moved away: keys, secrets and files. Its mark stays. */
export async function destroyFolder(
  { path, onWarning }: FolderOptions,
  { keepKey }: { keepKey: boolean },
): Promise<void> {
  const folder = dataFolder(resolve(path))
  const lock = await lockFolder(folder, { onWait: waitFor(folder, onWarning), isMove: true })
  try {
    if (existsSync(folder.database)) destroyDatabase(folder)
    const { files, reserve, home } = folder
    for (const gone of [files, reserve, home, ...(keepKey ? [] : [folder.key])])
      rmSync(gone, { recursive: true, force: true })
    removeDatabase(folder)
  } finally {
    lock.release()
  }
}

function destroyDatabase(folder: DataFolder): void {
  const destroy = (connection: Connection) => {
    destroyContents(connection)
    truncateLog(connection.database)
  }
  openChecked(folder, { create: false }, destroy).close()
}

export function removeDatabase({ database }: DataFolder): void {
  for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(database + ending, { force: true })
}
