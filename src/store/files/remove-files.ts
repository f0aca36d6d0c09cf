// Removes all sealed files of a folder by their names. Nothing else in it is touched: an operator may have put something there.

import { readdir, rm, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../domain/system-errors.ts'
import { MARK_NAMES } from './folder-mark.ts'

/** Files are in folders that are named by the first characters of their ids. */
const GROUP_CHARACTERS = 2

/** Begun files and the mark of the folder go too; the folder itself when it is empty then. Does nothing when it is missing. */
export async function removeSealedFiles(folder: string): Promise<void> {
  for (const group of await namesIn(folder))
    if (group.length === GROUP_CHARACTERS) await removeGroup(join(folder, group), group)
  for (const name of MARK_NAMES) await rm(join(folder, name), { force: true })
  await removeIfEmpty(folder)
}

async function removeGroup(path: string, group: string): Promise<void> {
  for (const name of await namesIn(path)) {
    const file = join(path, name)
    if (name.startsWith(group) && (await stat(file)).isFile()) await rm(file, { force: true })
  }
  await removeIfEmpty(path)
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((cause) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) return []
    throw cause
  })
}

/** A link to a folder on another disk stays. */
async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((cause) => {
    if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST', 'EBUSY'].includes(codeOf(cause))) throw cause
  })
}
