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
const CHARACTERS = 26

/** Makes a missing folder and mark. */
export function readFolderMark(folder: string): string {
  const path = join(folder, NAME)
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  if (!existsSync(path)) writeMark(path)
  return readFileSync(path, 'utf8').trim()
}

function writeMark(path: string): void {
  const file = openSync(`${path}.part`, 'w', 0o600)
  try {
    writeSync(file, `${randomBase32(CHARACTERS)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${path}.part`, path)
  // Otherwise a power cut could leave a database that knows a mark, and a folder without one.
  syncFolder(dirname(path))
}
