// Gives a finished file its name, and never takes the name of another one.

import { link, open, rename, rm } from 'node:fs/promises'
import { codeOf } from '../domain/system-errors.ts'

/** Uses link(2), which fails if the name exists, even as a dangling link; rename(2) would overwrite it. False if it exists. */
export async function claimName(part: string, path: string): Promise<boolean> {
  try {
    await link(part, path)
    await rm(part)
    return true
  } catch (cause) {
    if (isThere(cause)) return false
  }
  return claimNameWithoutLinks(part, path)
}

/** For disks without hard links: reserves the name with an empty file, then renames over it. */
async function claimNameWithoutLinks(part: string, path: string): Promise<boolean> {
  try {
    const placeholder = await open(path, 'wx', 0o600)
    await placeholder.close()
  } catch (cause) {
    if (isThere(cause)) return false
    throw cause
  }
  await rename(part, path)
  return true
}

function isThere(cause: unknown): boolean {
  return codeOf(cause) === 'EEXIST'
}
