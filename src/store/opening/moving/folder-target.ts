// A data folder as the target of a move.

import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { DomainError } from '../../../domain/errors.ts'
import { type DataFolder, explained } from '../../folder/data-folder.ts'
import type { FolderLock } from '../../folder/folder-lock.ts'
import {
  forgetMoveState,
  MARKS,
  readMovedAway,
  readMoveState,
  writeMoveState,
} from '../../folder/move-marks.ts'
import { type OpenTarget, type TargetEnd, targetChanged } from '../../moving/ends.ts'
import type { MoveState, MovingBucketFolder } from '../../moving-face.ts'
import { truncateLog } from '../../sqlite/engine/checkpoint.ts'
import type { Connection } from '../../sqlite/engine/database.ts'
import { migrate } from '../../sqlite/engine/migrate.ts'
import { readBucketFolder, writeBucketFolder } from '../../sqlite/files/bucket-folder.ts'
import { writeArrived } from '../../sqlite/moving/arrivals.ts'
import { createMovingReader, createMovingWriter } from '../../sqlite/moving/moving-rows.ts'
import { openChecked, openLocked, removeDatabase, withDatabase } from './folder-access.ts'

/** Changes nothing. Throws `conflict` for a folder with anything else in it. */
export function lookAtFolder(folder: DataFolder): MoveState | null {
  const { path } = folder
  if (!existsSync(path)) return null
  if (!statSync(path).isDirectory()) throw occupied(path, 'that is no folder')
  const state = readMoveState(path)
  if (state !== null) return state
  const away = readMovedAway(path)
  if (away !== null) throw occupied(path, `everything in it was moved to ${away.to}`)
  const other = readdirSync(path).find((name) => !isOurs(folder, name))
  if (other !== undefined) throw occupied(path, `it is not empty (there is ${JSON.stringify(other)})`)
  return null
}

/** What a move may have left that was killed at its first step. */
function isOurs({ lock, openingLock, holder }: DataFolder, name: string): boolean {
  const locks = [lock, openingLock, holder].map((path) => basename(path))
  return name === 'lost+found' || [...locks, ...MARKS].some((ours) => name.startsWith(ours))
}

function occupied(path: string, why: string): DomainError {
  const remedy = 'Name a new or empty folder with --to.'
  return new DomainError(
    'conflict',
    `Cannot move into ${path}: ${why}. A move never replaces anything. ${remedy}`,
  )
}

/** Makes what is missing. */
export async function openFolderTarget(
  folder: DataFolder,
  onWarning: (warning: string) => void,
  { found, state, anew }: OpenTarget,
): Promise<TargetEnd> {
  explained('use', folder.path, () => mkdirSync(folder.path, { recursive: true, mode: 0o700 }))
  return openLocked(folder, onWarning, async (lock) => {
    if (lookAtFolder(folder)?.id !== found?.id) throw new DomainError('conflict', targetChanged(folder.path))
    await writeMoveState(folder.path, state)
    const former = anew ? await findFormerFolder(folder) : null
    if (anew) removeDatabase(folder)
    const connection = openChecked(folder, { create: true }, (opened) => {
      migrate(opened.database)
      if (former !== null) writeBucketFolder(opened, former)
    })
    return targetOf(connection, { folder, lock, id: state.id })
  })
}

/** The folder in a bucket that an earlier try began, which this one uses again; null when it came less far. */
async function findFormerFolder(folder: DataFolder): Promise<MovingBucketFolder | null> {
  try {
    return existsSync(folder.database) ? await withDatabase(folder, readBucketFolder) : null
  } catch {
    return null
  }
}

function targetOf(
  connection: Connection,
  { folder, lock, id }: { folder: DataFolder; lock: FolderLock; id: string },
): TargetEnd {
  return {
    name: folder.path,
    reader: createMovingReader(connection),
    writer: createMovingWriter(connection),
    writeState: (next) => writeMoveState(folder.path, next),
    confirm: async () => {
      writeArrived(connection, id)
      truncateLog(connection.database)
      forgetMoveState(folder.path)
    },
    close: async () => {
      connection.close()
      lock.release()
    },
  }
}
