// The data folder of a node whose rows PostgreSQL keeps, where a move takes files from or brings them to.

import { existsSync, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { DomainError } from '../../../domain/errors.ts'
import { readFolderOwner, writeFolderOwner } from '../../files/folder-mark.ts'
import { type FilesEnd, openDiskEnd } from '../../files/moving-ends.ts'
import { dataFolder, explained, holdsData, refuseForeign } from '../../folder/data-folder.ts'
import { isServed } from '../../folder/folder-lock.ts'
import { requireNotMoved } from '../../folder/move-marks.ts'
import { createFolderWitness } from '../../witness/folder-witness.ts'
import { lockForMove } from './folder-access.ts'

/** `tag`: of the database whose node has, or will have, the folder; null for a database that has no tables yet. */
export type NodeFolder = { path: string; tag: string | null; keyFile: string | null }

/** Throws `conflict` unless the folder is new or empty, or belongs to a node of this database. Changes nothing. */
export function requireNodeFolder({ path, tag, keyFile }: NodeFolder): void {
  const folder = dataFolder(resolve(path))
  explained('use', folder.path, () => {
    if (!existsSync(folder.path)) return
    requireNoDatabase(folder.path)
    requireNotMoved(folder.path)
    const owner = ownerOf(folder.path)
    if (owner === null) return refuseForeign(folder, keyFile)
    if (owner !== tag) throw belongsToOther(folder.path)
  })
}

/** Throws `conflict` while a server runs there. */
export function requireUnserved(path: string): void {
  const folder = dataFolder(resolve(path))
  if (isServed(folder))
    throw new DomainError('conflict', `${folder.path} is being served: stop its server first.`)
}

/** Locked until `close`, and marked as a folder of this database. */
export async function openNodeFiles(node: NodeFolder, onWarning: (line: string) => void): Promise<FilesEnd> {
  const folder = dataFolder(resolve(node.path))
  requireNodeFolder(node)
  explained('use', folder.path, () => mkdirSync(folder.path, { recursive: true, mode: 0o700 }))
  const lock = await lockForMove(folder, onWarning)
  try {
    const end = openDiskEnd(folder.files)
    if (node.tag !== null) writeFolderOwner(folder.files, node.tag)
    return { ...end, close: () => end.close().finally(lock.release) }
  } catch (cause) {
    lock.release()
    throw cause
  }
}

/** Whether the files there are those of this database. Without a sign of it they may be those of another one. */
export function isNodeFolderOf({ path, tag }: Pick<NodeFolder, 'path' | 'tag'>): boolean {
  const folder = dataFolder(resolve(path))
  return tag !== null && !holdsData(folder) && ownerOf(folder.path) === tag
}

/** What the node remembers is newer than what a move has left. */
function ownerOf(path: string): string | null {
  return createFolderWitness(path).look()?.tag ?? readFolderOwner(dataFolder(path).files)
}

function requireNoDatabase(path: string): void {
  if (!holdsData(dataFolder(path))) return
  throw new DomainError(
    'conflict',
    `${path} holds a database of its own: name another data folder for the node with --data-dir.`,
  )
}

function belongsToOther(path: string): DomainError {
  return new DomainError(
    'conflict',
    `${path} belongs to a node of another database: name another data folder for the node with --data-dir.`,
  )
}
