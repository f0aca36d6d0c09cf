// The plan of scheduled backups: when they are due, how they are named, and which may be removed. Pure rules.

import { HOUR, MINUTE, SECOND } from './time.ts'

/** The last complete backup. `at` is when it began, `kept` how many backups there are including it. */
export type MadeBackup = {
  name: string
  at: number
  bytes: number
  durationMs: number
  kept: number
  /** Whether it is on the same disk as the data. */
  isSameDisk: boolean
}

/** A missed backup waits half a minute, because a starting machine is busy. */
const REST_MS = 30 * SECOND
const FIRST_RETRY_MS = MINUTE
const LAST_RETRY_MS = 15 * MINUTE
/** A last backup further in the future than this was made while the clock was wrong. */
const AHEAD_MS = MINUTE

/**
 * Returns the milliseconds from the start of the server to its first backup. `last` is when the last complete
 * one began. Only this function reads the clock: later backups follow elapsed time, so a clock that jumps
 * causes no extra backups.
 */
export function delayAtStart({ last, now, every }: { last: number | null; now: number; every: number }) {
  const rest = Math.min(REST_MS, every)
  if (last === null || last > now + AHEAD_MS) return rest
  return Math.max(rest, Math.min(every, last + every - now))
}

/**
 * Returns the backoff after failures: doubles from a minute to a quarter of an hour, and is never longer than
 * the interval of backups.
 */
export function retryDelay(failures: number, every: number): number {
  return Math.min(every, LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1))
}

/** Returns how late a backup may be before it is overdue. */
export function graceOf(every: number): number {
  return Math.min(6 * HOUR, Math.max(MINUTE, every / 4))
}

/** Returns the timeout of a backup, after which its disk counts as hanging. */
export function longestBackup(every: number): number {
  return Math.max(MINUTE, every)
}

/**
 * Returns a file name that sorts by time and is valid on every system. `mark` identifies the data folder
 * where several share a backup folder; a backup without a mark is never removed automatically.
 */
export function backupName(backup: { at: number; isSealed: boolean; mark?: string }): string {
  const { at, mark, isSealed } = backup
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')
  return `oncebox-backup-${time}Z${mark === undefined ? '' : `-${mark}`}.tar${isSealed ? '.age' : ''}`
}

/** Returns the backups with this mark among the names in a folder, oldest first. */
export function ownBackups(names: readonly string[], mark: string): string[] {
  const own = new RegExp(`^oncebox-backup-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ-${mark}\\.tar(\\.age)?$`)
  return names.filter((name) => own.test(name)).sort()
}

/** Returns the backups to remove once `made` is complete: all but the newest `keep`. */
export function surplusBackups(own: readonly string[], { made, keep }: { made: string; keep: number }) {
  // A name later than the new one comes from a clock that was ahead: treat it as the oldest.
  const older = [...own.filter((name) => name > made), ...own.filter((name) => name < made)]
  return older.slice(0, Math.max(0, older.length + 1 - keep))
}
