// The data folder of a node whose rows a database server keeps: files, if they are on the disk, and what the node remembers.

import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError } from '../../domain/errors.ts'
import {
  type DataFolder,
  explained,
  FOLDER,
  holdsData,
  refuseForeign,
  requireOwnContents,
} from './data-folder.ts'
import { requireOwn } from './ownership.ts'
import { syncFolder } from './sync-folder.ts'

/**
 * Makes the folder when it is missing, and closes it to other users. Throws `conflict` when it holds a database or other
 * files, or belongs to another user.
 */
export function prepareNodeFolder(folder: DataFolder, keyFile: string): void {
  explained('use', folder.path, () => {
    if (mkdirSync(folder.path, { recursive: true, mode: 0o700 })) syncFolder(dirname(folder.path))
    requireOwn(folder.path, FOLDER)
    if (holdsData(folder)) throw holdsDatabase(folder)
    // An operator may have removed a damaged note from a folder that was served.
    const wasServed = existsSync(folder.node) || existsSync(folder.lock)
    if (!wasServed) refuseForeign(folder, keyFile)
    chmodSync(folder.path, 0o700)
    requireOwnContents(folder)
  })
}

function holdsDatabase({ path }: DataFolder): DomainError {
  return new DomainError(
    'conflict',
    `${path} holds a database of its own, which nobody would see beside --database-url. Name another folder with ` +
      '--data-dir.',
  )
}
