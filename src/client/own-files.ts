// Files that this client keeps in a folder where other users may write too: never through a link, never another's file.

import { constants } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { codeOf } from '../domain/system-errors.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR, O_WRONLY } = constants

/** A new empty file that only this user can read. Removes what stood at `path`; a link is removed, not followed. */
export async function createOwnFile(path: string): Promise<FileHandle> {
  const create = () => open(path, O_WRONLY | O_CREAT | O_EXCL | flag(O_NOFOLLOW), 0o600)
  return create().catch(async (cause) => {
    if (codeOf(cause) !== 'EEXIST') throw cause
    await rm(path, { force: true })
    return create()
  })
}

/** Null when there is none, or when it is a link, not a plain file, or not this user's alone. */
export async function openOwnFile(path: string): Promise<FileHandle | null> {
  // Opening a pipe without O_NONBLOCK waits for its other end.
  const file = await open(path, O_RDWR | flag(O_NOFOLLOW) | flag(O_NONBLOCK)).catch(() => null)
  if (file === null) return null
  const found = await file.stat()
  const isOurs = found.uid === (process.getuid?.() ?? found.uid)
  if (found.isFile() && found.nlink === 1 && isOurs) return file
  await file.close()
  return null
}

/** Bytes of a file that `openOwnFile` would open, else 0. */
export async function sizeOfOwnFile(path: string): Promise<number> {
  const file = await openOwnFile(path)
  if (file === null) return 0
  return file
    .stat()
    .then(
      ({ size }) => size,
      () => 0,
    )
    .finally(() => file.close())
}

/** Windows lacks some of these. */
function flag(value: number | undefined): number {
  return value ?? 0
}
