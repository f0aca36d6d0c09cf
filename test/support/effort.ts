// Processor time, to which others on a busy machine do not add.

import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** Milliseconds that this process has worked. */
export function workedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Milliseconds that another process has worked; always 0 where the system has no /proc. */
export function workedMsOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program stands in brackets, and may have blanks.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) * TICK_MS
}
