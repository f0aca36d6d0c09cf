// A data folder as the source of a move.

import { existsSync, statSync } from 'node:fs'
import { DomainError } from '../../../domain/errors.ts'
import { type DataFolder, holdsData, requireDataFolder } from '../../folder/data-folder.ts'
import type { FolderLock } from '../../folder/folder-lock.ts'
import { readMovedAway, requireNotMoved, writeMovedAway } from '../../folder/move-marks.ts'
import { notLeft, type SourceEnd, sourceInUse } from '../../moving/ends.ts'
import type { MovedAway } from '../../moving-face.ts'
import { truncateLog } from '../../sqlite/engine/checkpoint.ts'
import type { Connection } from '../../sqlite/engine/database.ts'
import { readHomeMark, requireHome } from '../../sqlite/engine/home.ts'
import { requireIntact } from '../../sqlite/engine/instance.ts'
import { requireCurrentSchema } from '../../sqlite/engine/migrate.ts'
import { writeBucketFolder } from '../../sqlite/files/bucket-folder.ts'
import { requireIntactLog } from '../../sqlite/integrity/log-check.ts'
import { createMovingReader } from '../../sqlite/moving/moving-rows.ts'
import { openChecked, openLocked } from './folder-access.ts'

export type FolderSourceOptions = {
  machine: string | null
  /** Null, or the mark of a folder that was left. */
  away: MovedAway | null
  onWarning: (warning: string) => void
}

/** Throws `conflict` for a folder that is served, damaged, a copy, or of another version. */
export async function openFolderSource(
  folder: DataFolder,
  { machine, away, onWarning }: FolderSourceOptions,
): Promise<SourceEnd> {
  requireSource(folder, away)
  return openLocked(folder, onWarning, (lock) => {
    // Another move may have left it while this one waited.
    requireMark(folder, away)
    requireIntactLog(folder.database)
    const connection = openChecked(folder, { create: false }, (opened) => {
      requireIntact(opened)
      requireCurrentSchema(opened.database)
      requireHome(opened, { folder, machine, acceptMove: false, onWarning })
      truncateLog(opened.database)
    })
    return sourceOf(connection, { folder, lock, mark: markOf(folder, connection) })
  })
}

function requireMark({ path }: DataFolder, away: MovedAway | null): void {
  if (away === null) requireNotMoved(path)
  else if (readMovedAway(path)?.id !== away.id) throw new DomainError('conflict', notLeft(path))
}

function requireSource(folder: DataFolder, away: MovedAway | null): void {
  requireMark(folder, away)
  if (!holdsData(folder) && existsSync(folder.witness))
    throw new DomainError(
      'conflict',
      `${folder.path} belongs to a node whose rows PostgreSQL keeps: name that database with --from, and this folder with ` +
        '--from-data-dir if the files are in it.',
    )
  if (!holdsData(folder))
    throw new DomainError(
      'conflict',
      `There is no Oncebox data in ${folder.path}. Name the right folder with --from.`,
    )
  requireDataFolder(folder, { isLeft: away !== null })
}

type Held = { folder: DataFolder; lock: FolderLock; mark: string }

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

/** Every start of a server and every change of a row leaves another one. */
function markOf({ database }: DataFolder, connection: Connection): string {
  const { mtimeNs, size } = statSync(database, { bigint: true })
  return `${readHomeMark(connection)} ${mtimeNs} ${size}`
}
