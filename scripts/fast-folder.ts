// A temporary folder in memory for tests: they wait for the disk most of the time.

import { existsSync, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** Containers often have only 64 MiB of memory there. */
const MIN_BYTES = 2 * 1024 ** 3

/** Makes a folder that the caller removes; on a disk if no file system in memory is available. */
export function makeFastFolder(prefix: string): string {
  return mkdtempSync(join(fastPlace(), prefix))
}

export function fastPlace(): string {
  return hasMemory() ? MEMORY : tmpdir()
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY)) return false
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= MIN_BYTES
}
