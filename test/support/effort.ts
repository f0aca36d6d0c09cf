// Processor time and moments of this process, to which others on a busy machine hardly add.

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

const MOMENT_MS = 10

/**
 * Starts to count milliseconds in which this process could run: a wait for the processor counts as one
 * moment.
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
