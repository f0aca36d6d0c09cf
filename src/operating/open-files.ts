// Reads how many files and sockets this process may have open.

import { readFileSync } from 'node:fs'

/** Where the system does not tell: fewer than any system allows a process that asks for more. */
const UNKNOWN = 1024

/** Returns the soft limit of RLIMIT_NOFILE on Linux. */
export function readOpenFilesLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? UNKNOWN : Number(soft)
  } catch {
    return UNKNOWN
  }
}
