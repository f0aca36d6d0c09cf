// Folders that a command works in until it is done: named after its process, so that what a killed one left can be told
// from what is in use.

import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../domain/system-errors.ts'
import { isMine } from './ownership.ts'

/** Unlike any name that a person would choose. */
export function unfinishedName(prefix: string): string {
  return `${prefix}${process.pid}`
}

/** Removes what ended processes of this user have left in `parent`. Returns the names of those that are still in use. */
export function removeUnfinished(parent: string, prefix: string): { removed: string[]; inUse: string[] } {
  const removed: string[] = []
  const inUse: string[] = []
  for (const name of readdirSync(parent)) {
    const pid = pidIn(name, prefix)
    if (pid === null || pid === process.pid || !isMine(join(parent, name))) continue
    if (isAlive(pid)) inUse.push(name)
    else {
      rmSync(join(parent, name), { recursive: true, force: true })
      removed.push(name)
    }
  }
  return { removed, inUse }
}

/** A name that `mkdtemp` made goes on behind the number. */
function pidIn(name: string, prefix: string): number | null {
  const [, pid] = name.startsWith(prefix) ? (/^(\d+)(?:-\w+)?$/.exec(name.slice(prefix.length)) ?? []) : []
  return pid === undefined ? null : Number(pid)
}

/** Also true for a process of another user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return codeOf(cause) !== 'ESRCH'
  }
}
