// A private folder in memory for secrets that a program reads from a file. It is removed when this process
// ends, even by SIGKILL.

import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { OperatingSystem } from '../../settings/parsers.ts'
import { CommandFailure } from '../failures.ts'

export type MemoryFolder = ReturnType<typeof createMemoryFolder>

/** Throws CommandFailure if there is no folder in memory and the disk must not be used. */
export function createMemoryFolder({ env }: OperatingSystem, { allowDisk }: { allowDisk: boolean }) {
  const parent = [env.XDG_RUNTIME_DIR ?? '', '/dev/shm'].find(isUsable) ?? (allowDisk ? tmpdir() : null)
  if (parent === null)
    throw new CommandFailure(
      'There is no folder in memory for a file: XDG_RUNTIME_DIR names none of yours, and there is no /dev/shm. --allow-disk uses the disk.',
    )
  const folder = mkdtempSync(join(parent, 'oncebox-'))
  const stopWatching = removeAtEnd(folder)
  return {
    /** Writes a file that only this user can read. Returns its path. */
    write: (name: string, bytes: Uint8Array): string => {
      const path = join(folder, name)
      writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 })
      return path
    },
    [Symbol.dispose]: (): void => {
      rmSync(folder, { recursive: true, force: true })
      stopWatching()
    },
  }
}

/** Whether other users can neither write into the folder nor replace its contents. */
function isUsable(path: string): boolean {
  if (!isAbsolute(path) || !existsSync(path)) return false
  const found = statSync(path)
  const isOurs = found.uid === process.getuid?.() && (found.mode & 0o022) === 0
  const isShared = found.uid === 0 && (found.mode & 0o1000) !== 0
  return found.isDirectory() && (isOurs || isShared)
}

/**
 * Starts a shell that removes the folder once its input ends. The system closes the input when this process
 * ends, however it ends.
 */
function removeAtEnd(folder: string): () => void {
  const wait = 'trap "" HUP INT QUIT TERM; read -r _; rm -rf -- "$1"'
  try {
    const watcher = Bun.spawn(['/bin/sh', '-c', wait, 'sh', folder], {
      // Run it in its own process group. Otherwise a signal to ours, as when a CI job is cancelled, kills it
      // too.
      ...{ stdin: 'pipe', stdout: 'ignore', stderr: 'ignore', env: {}, detached: true },
    })
    watcher.unref()
    return () => void watcher.stdin.end()
  } catch {
    // Without a shell, only SIGKILL leaves the folder behind.
    return () => undefined
  }
}
