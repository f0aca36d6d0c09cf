// Signals a process and all its descendants, such as those of a PostgreSQL server, which have separate
// sessions.

import { readdirSync, readFileSync } from 'node:fs'

/** Sends the signal to the parent first, so that it starts no more children. */
export function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of [pid, ...listChildren(pid)]) {
    try {
      process.kill(one, signal)
    } catch {
      // The process has already ended.
    }
  }
}

function listChildren(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return all.map(Number).filter((one) => parentOf(one) === pid)
}

/** Returns null when the process has ended. */
function parentOf(pid: number): number | null {
  try {
    // The program's name, in brackets, may contain any character.
    const [, rest = ''] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(rest)
  } catch {
    return null
  }
}
