// Measures of this process that other load on a busy machine hardly affects: processor time and running time.

import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second. */
const TICK_MS = 10

/** Returns the processor milliseconds of this process. */
export function workedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns the processor milliseconds of another process; 0 on systems without /proc. */
export function workedMsOf(pid: number): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The program's name is in brackets, and may contain blanks.
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) * TICK_MS
}

const MOMENT_MS = 10

/**
 * Starts a stopwatch for the time in which this process could run, in milliseconds: waiting for the processor
 * counts as one millisecond.
 */
export function startStopwatch(): () => number {
  let passed = 0
  let last = performance.now()
  const note = () => {
    const now = performance.now()
    passed += Math.min(now - last, 2 * MOMENT_MS)
    last = now
  }
  const timer = setInterval(note, MOMENT_MS).unref()
  return () => {
    note()
    clearInterval(timer)
    return passed
  }
}
