// The data folders of nodes, at an end of a move in PostgreSQL: whose they are, and that nobody serves them meanwhile.

import { dirname, resolve } from 'node:path'
import type { FilesEnd } from '../../store/files/moving-ends.ts'
import { isSamePlace } from '../../store/folder/same-place.ts'
import type { MovingPlace } from '../../store/moving/ends.ts'
import {
  isNodeFolderOf,
  openNodeFiles,
  requireNodeFolder,
  requireUnserved,
} from '../../store/opening/moving/node-folder-place.ts'
import type { AskedMove } from './ends.ts'
import { type FilePlace, type OpeningPlace, openPlace } from './file-places.ts'
import type { MoveWish } from './wish.ts'

/** Throws `conflict` when --data-dir names a folder in which no node of the target could start. Changes nothing. */
export async function requireTargetFolder({ wish, from, to }: AskedMove): Promise<void> {
  const path = targetFolder(wish)
  if (path === null || isOfSource(path, wish)) return
  requireNodeFolder({ path, tag: await to.findTag(), keyFile: wish.keyFile })
  // Once the source was left, the target may be served.
  if ((await from.findMovedAway()) === null) requireUnserved(path)
}

type OpeningTarget = OpeningPlace & { wish: MoveWish; to: MovingPlace }

/** A disk is locked and marked until it is closed, unless the target itself is that folder. */
export async function openTargetPlace(
  place: FilePlace,
  { wish, to, ...opening }: OpeningTarget,
): Promise<FilesEnd | null> {
  const path = targetFolder(wish)
  if (place.kind !== 'disk' || path === null) return openPlace(place, opening)
  return openNodeFiles({ path, tag: await to.findTag(), keyFile: wish.keyFile }, opening.onWarning)
}

/** Whether the files there, which are to be destroyed, are those of the source, and not those of another Oncebox. */
export async function belongsToSource(place: FilePlace, { wish, from }: AskedMove): Promise<boolean> {
  if (place.kind !== 'disk' || wish.from.kind === 'folder') return true
  const path = dirname(place.path)
  if (!isNodeFolderOf({ path, tag: await from.findTag() })) return false
  requireUnserved(path)
  return true
}

export function notOfSource(place: string): string {
  return `The files in ${place} stay: nothing there says that they belong to the source, and they may be those of another Oncebox.`
}

/** Null unless PostgreSQL keeps the rows of the target. */
function targetFolder({ to, toDataDir }: MoveWish): string | null {
  return to.kind === 'postgres' ? toDataDir : null
}

/** Files that stay where they are, and the folder of the source itself, are told of elsewhere. */
function isOfSource(path: string, { from, fromDataDir }: MoveWish): boolean {
  const source = from.kind === 'folder' ? from.path : fromDataDir
  return source !== null && isSamePlace(resolve(path, 'files'), resolve(source, 'files'))
}
