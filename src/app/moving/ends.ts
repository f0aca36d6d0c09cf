// Opens the two ends of a move.

import { resolve } from 'node:path'
import { presentDatabaseAddress } from '../../domain/database-address.ts'
import { readMachine } from '../../store/folder/machine.ts'
import { readMovedAway, readMoveState } from '../../store/folder/move-marks.ts'
import type { OpenTarget, SourceEnd, TargetEnd, TargetLook } from '../../store/moving/ends.ts'
import type { MovedAway, MoveState, MovingBucketFolder } from '../../store/moving-face.ts'
import {
  destroyFolder,
  isFilledFolder,
  openFolderSource,
  readFormerBucketFolder,
} from '../../store/opening/moving-folder.ts'
import { lookAtFolder, openFolderTarget } from '../../store/opening/moving-folder-target.ts'
import {
  destroyPostgres,
  findLeftDatabase,
  isFilledDatabase,
  lookAtPostgres,
  openPostgresSource,
  openPostgresTarget,
  readFormerFolder,
  readPostgresState,
} from '../../store/opening/moving-postgres.ts'
import type { MovePlace } from './wish.ts'

type OnWarning = (warning: string) => void

export function nameOf(place: MovePlace): string {
  return place.kind === 'folder' ? resolve(place.path) : presentDatabaseAddress(place.address)
}

/** Null unless everything was moved away from there. */
export async function findMovedAway(place: MovePlace, onWarning: OnWarning): Promise<MovedAway | null> {
  return place.kind === 'folder' ? readMovedAway(place.path) : findLeftDatabase({ ...place, onWarning })
}

export async function findState(place: MovePlace, onWarning: OnWarning): Promise<MoveState | null> {
  return place.kind === 'folder' ? readMoveState(place.path) : readPostgresState({ ...place, onWarning })
}

export function openSource(place: MovePlace, onWarning: OnWarning): Promise<SourceEnd> {
  return place.kind === 'folder'
    ? openFolderSource({ ...place, machine: readMachine(process.platform), onWarning })
    : openPostgresSource({ ...place, onWarning })
}

/** Changes nothing. Throws `conflict` unless the place is empty, or the end of a move that is not confirmed. */
export async function lookAtTarget(place: MovePlace, onWarning: OnWarning): Promise<TargetLook> {
  return place.kind === 'folder' ? lookAtFolder(place.path) : lookAtPostgres({ ...place, onWarning })
}

export function openTarget(place: MovePlace, onWarning: OnWarning, how: OpenTarget): Promise<TargetEnd> {
  return place.kind === 'folder'
    ? openFolderTarget({ ...place, machine: null, onWarning }, how)
    : openPostgresTarget({ ...place, onWarning }, how)
}

/** Whether a place has data that can be served. */
export async function isFilled(place: MovePlace, onWarning: OnWarning): Promise<boolean> {
  return place.kind === 'folder' ? isFilledFolder(place.path) : isFilledDatabase({ ...place, onWarning })
}

/** The folder of files in a bucket that a place had which was moved away; null for none. */
export async function findFormerFolder(
  place: MovePlace,
  onWarning: OnWarning,
): Promise<MovingBucketFolder | null> {
  return place.kind === 'folder'
    ? readFormerBucketFolder(place.path)
    : readFormerFolder({ ...place, onWarning })
}

/** `keepKey`: the target uses the key file that lies in the folder of the source. */
export function destroyEnd(place: MovePlace, onWarning: OnWarning, how: { keepKey: boolean }): Promise<void> {
  return place.kind === 'folder'
    ? destroyFolder({ ...place, machine: null, onWarning }, how)
    : destroyPostgres({ ...place, onWarning })
}
