// A data folder that a move begins or ends at.

import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { DomainError } from '../../../domain/errors.ts'
import { removeSealedFiles } from '../../files/remove-files.ts'
import { type DataFolder, dataFolder, holdsData } from '../../folder/data-folder.ts'
import { readMovedAway, readMoveState, writeMovedAway } from '../../folder/move-marks.ts'
import { type MovingPlace, notLeft } from '../../moving/ends.ts'
import type { MovedAway } from '../../moving-face.ts'
import { truncateLog } from '../../sqlite/engine/checkpoint.ts'
import type { Connection } from '../../sqlite/engine/database.ts'
import { readBucketFolder } from '../../sqlite/files/bucket-folder.ts'
import { readArrived } from '../../sqlite/moving/arrivals.ts'
import { destroyContents } from '../../sqlite/moving/destroy.ts'
import { createMovingReader } from '../../sqlite/moving/moving-rows.ts'
import { lockForMove, removeDatabase, withDatabase } from './folder-access.ts'
import { openFolderSource } from './folder-source.ts'
import { lookAtFolder, openFolderTarget } from './folder-target.ts'

export type FolderOptions = {
  path: string
  /** A hash of the id of this machine; null when it has none. */
  machine: string | null
  onWarning: (warning: string) => void
}

export function folderPlace({ path, machine, onWarning }: FolderOptions): MovingPlace {
  const folder = dataFolder(resolve(path))
  return {
    name: folder.path,
    findMovedAway: async () => readMovedAway(folder.path),
    findArrived: () => findArrived(folder),
    openSource: (away) => openFolderSource(folder, { machine, away, onWarning }),
    lookAtTarget: async () => lookAtFolder(folder),
    openTarget: (how) => openFolderTarget(folder, onWarning, how),
    findTag: async () => null,
    reading: (work) => withDatabase(folder, (connection) => work(createMovingReader(connection))),
    settle: async (id) => writeMovedAway(folder.path, { ...requireLeft(folder, id), isSettled: true }),
    findFormerFolder: async () =>
      existsSync(folder.database) ? withDatabase(folder, readBucketFolder) : null,
    destroy: (how) => destroyFolder(folder, onWarning, how),
  }
}

async function findArrived(folder: DataFolder): Promise<string | null> {
  const isEnd = readMovedAway(folder.path) !== null || readMoveState(folder.path) !== null
  return isEnd || !holdsData(folder) ? null : withDatabase(folder, readArrived)
}

function requireLeft({ path }: DataFolder, id: string): MovedAway {
  const away = readMovedAway(path)
  if (away?.id !== id) throw new DomainError('conflict', notLeft(path))
  return away
}

/** Keys, secrets and files. The mark of the folder stays. */
async function destroyFolder(
  folder: DataFolder,
  onWarning: FolderOptions['onWarning'],
  { id, keepKey, keepFiles }: { id: string; keepKey: boolean; keepFiles: boolean },
): Promise<void> {
  const lock = await lockForMove(folder, onWarning)
  try {
    requireLeft(folder, id)
    if (existsSync(folder.database)) await withDatabase(folder, destroyRows)
    if (!keepFiles) await removeSealedFiles(folder.files)
    const { reserve, home, key } = folder
    for (const gone of [reserve, home, ...(keepKey ? [] : [key])]) rmSync(gone, { force: true })
    removeDatabase(folder)
  } finally {
    lock.release()
  }
}

function destroyRows(connection: Connection): void {
  destroyContents(connection)
  truncateLog(connection.database)
}
