// Reads how many files and sockets this process may have open.

import { readFileSync } from 'node:fs'

/** Assumed if the system reports no limit. Every system allows a process more than this. */
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
