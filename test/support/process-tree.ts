// Signals a process with all that it has started, such as a server of PostgreSQL, whose processes are
// sessions of their own.

import { readdirSync, readFileSync } from 'node:fs'

/** The parent first, so that it starts no more. */
export function signalTree(pid: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of [pid, ...listChildren(pid)]) {
    try {
      process.kill(one, signal)
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}

function listChildren(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return all.map(Number).filter((one) => parentOf(one) === pid)
}

/** Null when the process has ended. */
function parentOf(pid: number): number | null {
  try {
    // The name of the program, in brackets, may hold anything.
    const [, rest = ''] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(rest)
  } catch {
    return null
  }
}
