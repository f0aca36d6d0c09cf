// The mark of a folder of sealed files, by which a database knows the folder again.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { randomBase32 } from '../../crypto/random.ts'
import { syncFolder } from '../folder/sync-folder.ts'

const NAME = '.place'
const OWNER = '.database'
/** The marks, and those that were begun. */
export const MARK_NAMES = [NAME, OWNER].flatMap((name) => [name, `${name}.part`])
const CHARACTERS = 26

/** Makes a missing folder and mark. */
export function readFolderMark(folder: string): string {
  const path = join(folder, NAME)
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  if (!existsSync(path)) writeMark(path, randomBase32(CHARACTERS))
  return readFileSync(path, 'utf8').trim()
}

/** The tag of the database for which a move brought the files here; null when none did. */
export function readFolderOwner(folder: string): string | null {
  const path = join(folder, OWNER)
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null
}

/** Survives a power cut. */
export function writeFolderOwner(folder: string, tag: string): void {
  if (readFolderOwner(folder) !== tag) writeMark(join(folder, OWNER), tag)
}

function writeMark(path: string, text: string): void {
  const file = openSync(`${path}.part`, 'w', 0o600)
  try {
    writeSync(file, `${text}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.part`, path)
  // Otherwise a power cut could leave a database that knows a mark, and a folder without one.
  syncFolder(dirname(path))
}
