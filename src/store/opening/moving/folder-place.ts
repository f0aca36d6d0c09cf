// A data folder that a move begins or ends at.

import { existsSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { removeSealedFiles } from '../../files/remove-files.ts'
import { type DataFolder, dataFolder, holdsData } from '../../folder/data-folder.ts'
import { readMovedAway, readMoveState } from '../../folder/move-marks.ts'
import type { MovingPlace } from '../../moving/ends.ts'
import { truncateLog } from '../../sqlite/engine/checkpoint.ts'
import type { Connection } from '../../sqlite/engine/database.ts'
import { readBucketFolder } from '../../sqlite/files/bucket-folder.ts'
import { destroyContents } from '../../sqlite/moving/destroy.ts'
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
    findState: async () => readMoveState(folder.path),
    openSource: () => openFolderSource(folder, { machine, onWarning }),
    lookAtTarget: async () => lookAtFolder(folder),
    openTarget: (how) => openFolderTarget(folder, onWarning, how),
    isFilled: async () => readMovedAway(folder.path) === null && holdsData(folder),
    findTag: async () => null,
    findFormerFolder: async () =>
      existsSync(folder.database) ? withDatabase(folder, readBucketFolder) : null,
    destroy: (how) => destroyFolder(folder, onWarning, how),
  }
}

/** Keys, secrets and files. The mark of the folder stays. */
async function destroyFolder(
  folder: DataFolder,
  onWarning: FolderOptions['onWarning'],
  { keepKey, keepFiles }: { keepKey: boolean; keepFiles: boolean },
): Promise<void> {
  const lock = await lockForMove(folder, onWarning)
  try {
    if (existsSync(folder.database)) withDatabase(folder, destroyRows)
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
