// The client's own files in folders where other users may write too. Follows no symlinks, opens no other
// user's files, and never overwrites an existing file.

import { constants } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf } from '../domain/system-errors.ts'
import { numberedName } from '../text/safe-filename.ts'

// Some flags are undefined on Windows.
const { O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDWR, O_WRONLY } = constants

/** Creates an empty file that only this user can read. Removes an existing file or symlink at `path`. */
export async function createOwnFile(path: string): Promise<FileHandle> {
  await rm(path, { force: true })
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
}

/**
 * Resolves to null when the file is missing, is a symlink or not a regular file, has other hard links, or
 * belongs to another user.
 */
export async function openOwnFile(path: string): Promise<FileHandle | null> {
  // Without O_NONBLOCK, opening a pipe waits for its other end.
  const file = await open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (file === null) return null
  const found = await file.stat()
  const isOurs = found.uid === (process.getuid?.() ?? found.uid)
  if (found.isFile() && found.nlink === 1 && isOurs) return file
  await file.close()
  return null
}

/** Resolves to the size in bytes of a file that `openOwnFile` would open; 0 if it would not. */
export async function sizeOfOwnFile(path: string): Promise<number> {
  await using file = await openOwnFile(path)
  return (await file?.stat())?.size ?? 0
}

/** Renames the part to `wanted` or to the next free numbered name; returns the path. */
export async function placePart(part: string, wanted: string): Promise<string> {
  for (let n = 1; ; n += 1) {
    const path = n === 1 ? wanted : join(dirname(wanted), numberedName(basename(wanted), n))
    if (await claimName(part, path)) return path
  }
}

/**
 * Moves the part to `path` by link(2), which fails if the name exists, even as a dangling symlink; rename(2)
 * would overwrite it. Resolves to false if it exists.
 */
export async function claimName(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
    await rm(part)
    return true
  } catch (cause) {
    return codeOf(cause) === 'EEXIST' ? false : claimNameWithoutLinks(part, path)
  }
}

/** Reserves the name with an empty file and renames over it, for file systems without hard links. */
async function claimNameWithoutLinks(part: string, path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close()
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
  await rename(part, path)
  return true
}
