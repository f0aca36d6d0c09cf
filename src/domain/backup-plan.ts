// When the backups that a server makes by itself are due, what they are called, and which of them may go.
// Pure rules.

import { HOUR, MINUTE, SECOND } from './time.ts'

/** The last good backup. `at` is when it began, `kept` how many there were with it. */
export type MadeBackup = {
  name: string
  at: number
  bytes: number
  durationMs: number
  kept: number
  /** Whether it is on the disk of the data. */
  isSameDisk: boolean
}

/** A machine that starts has other work; a backup that was missed can wait for half a minute. */
const REST_MS = 30 * SECOND
const FIRST_RETRY_MS = MINUTE
const LAST_RETRY_MS = 15 * MINUTE
/** A last backup that is further in the future than this was made by a wrong clock. */
const AHEAD_MS = MINUTE

/**
 * Milliseconds from the start of the server to its first backup. `last` is when the last good one began. Only
 * this reads the clock: later ones come by elapsed time, so a clock that jumps makes no more of them.
 */
export function delayAtStart({ last, now, every }: { last: number | null; now: number; every: number }) {
  const rest = Math.min(REST_MS, every)
  if (last === null || last > now + AHEAD_MS) return rest
  return Math.max(rest, Math.min(every, last + every - now))
}

/** Doubles from a minute to a quarter of an hour; never longer than the pause between two backups. */
export function retryDelay(failures: number, every: number): number {
  return Math.min(every, LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1))
}

/** How late a backup may be before somebody has to look. */
export function graceOf(every: number): number {
  return Math.min(6 * HOUR, Math.max(MINUTE, every / 4))
}

/** How long one may take; then its disk is taken to hang. */
export function longestBackup(every: number): number {
  return Math.max(MINUTE, every)
}

/**
 * `mark` tells the data folders apart whose backups share a folder; without it the backup is nobody's to
 * remove. Sorts by time, and is a name on every system.
 */
export function backupName(backup: { at: number; isSealed: boolean; mark?: string }): string {
  const { at, mark, isSealed } = backup
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')
  return `oncebox-backup-${time}Z${mark === undefined ? '' : `-${mark}`}.tar${isSealed ? '.age' : ''}`
}

/** The names in a folder that `backupName` gave with this mark, oldest first. */
export function ownBackups(names: readonly string[], mark: string): string[] {
  const own = new RegExp(`^oncebox-backup-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ-${mark}\\.tar(\\.age)?$`)
  return names.filter((name) => own.test(name)).sort()
}

/** The backups that may go now that `made` is complete: all but the newest `keep`. */
export function surplusBackups(own: readonly string[], { made, keep }: { made: string; keep: number }) {
  // A name later than the newest is from a clock that was ahead.
  const older = [...own.filter((name) => name > made), ...own.filter((name) => name < made)]
  return older.slice(0, Math.max(0, older.length + 1 - keep))
}
