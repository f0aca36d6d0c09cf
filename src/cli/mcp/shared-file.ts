// Opens a file that a program may share: below a listed folder, without following symlinks.

import { constants, readlinkSync, realpathSync } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import type { UploadFile } from '../../client/upload.ts'
import { CommandFailure } from '../failures.ts'

const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants

/** Gives one message for every reason, so that it reveals nothing about other files. */
const REFUSED =
  'This is not a file that may be shared: only files below the listed folders, without a dot at the beginning of a name.'

/** A folder as the configuration names it, and its real path. */
export type SharedFolder = { given: string; real: string }

type OfferedFile = { file: UploadFile; close: () => Promise<void> }

/** Throws CommandFailure for any other file. */
export async function openSharedFile(path: string, folders: readonly SharedFolder[]): Promise<OfferedFile> {
  // Check the path before opening it: opening a device may have effects.
  const expected = isAbsolute(path) ? placeIn(folders, resolve(path)) : undefined
  if (expected === undefined) throw new CommandFailure(REFUSED)
  const handle = await open(expected, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (handle === null) throw new CommandFailure(REFUSED)
  const { size, nlink, ...found } = await handle.stat()
  const isFile = (found.mode & constants.S_IFMT) === constants.S_IFREG
  // Refuse a symlink on the way, which leads to another path, and a second hard link, which may be outside of
  // the folders.
  if ((await realPathOf(handle, expected)) !== expected || !isFile || nlink > 1) {
    await handle.close()
    throw new CommandFailure(REFUSED)
  }
  const read = () => handle.createReadStream({ start: 0, end: Math.max(0, size - 1), autoClose: false })
  return { file: { filename: basename(expected), size, read }, close: () => handle.close() }
}

/** Returns the path below the real folder, unless a name on the way begins with a dot. */
function placeIn(folders: readonly SharedFolder[], path: string): string | undefined {
  return folders
    .map(({ given, real }) => ({ real, rest: relative(given, path) }))
    .filter(
      ({ rest }) =>
        rest !== '' && !isAbsolute(rest) && rest.split(sep).every((name) => !name.startsWith('.')),
    )
    .map(({ real, rest }) => join(real, rest))[0]
}

/** Returns the path of the opened file itself; null if it was replaced meanwhile. */
async function realPathOf(handle: FileHandle, path: string): Promise<string | null> {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${handle.fd}`)
    const real = realpathSync(path)
    const [opened, named] = [await handle.stat(), await stat(real)]
    return opened.ino === named.ino && opened.dev === named.dev ? real : null
  } catch {
    return null
  }
}
