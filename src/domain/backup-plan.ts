// When the backups that a server makes by itself are due, what they are called, and which of them may go. Pure rules.

import { HOUR, MINUTE, SECOND } from './time.ts'

/** A complete backup. `at` is when it began. */
export type MadeBackup = { name: string; at: number; bytes: number; durationMs: number | null }

/** Both clocks at one moment: `time` may be set by people; `up` only goes on, and knows nothing of earlier starts. */
export type Clocks = { time: number; up: number }

export type BackupHistory = {
  /** `up` when the server started. */
  startedUp: number
  /** The last good one. `up` is null when an earlier start made it. */
  last: { at: number; up: number | null } | null
  /** Failures in a row since the last good one. */
  failures: number
  failedUp: number
}

/** A machine that starts has other work; a backup that was missed can wait for half a minute. */
const REST_MS = 30 * SECOND
const FIRST_RETRY_MS = MINUTE
const LAST_RETRY_MS = 15 * MINUTE
/** A last backup that is further in the future than this was made by a wrong clock. */
const AHEAD_MS = MINUTE

/** Milliseconds until the next backup should begin; 0 when it is due. */
export function timeToNextBackup(history: BackupHistory, { every, clocks }: Schedule): number {
  const { startedUp, failures, failedUp } = history
  const rest = startedUp + restOf(every) - clocks.up
  const wait =
    failures > 0 ? failedUp + retryDelay(failures, every) - clocks.up : untilDue(history, { every, clocks })
  return Math.max(0, rest, wait)
}

export type Schedule = { every: number; clocks: Clocks }

/** Whether the next backup should have been made for so long that somebody has to look. */
export function isBackupOverdue(history: BackupHistory, { every, clocks }: Schedule): boolean {
  const grace = Math.min(6 * HOUR, Math.max(MINUTE, every / 4))
  const rested = clocks.up - history.startedUp - restOf(every)
  return rested > grace && untilDue(history, { every, clocks }) < -grace
}

/**
 * Negative when it is past. The clock decides, within what the time that the machine was up allows: a clock that jumps ahead
 * again and again makes no more than two backups in place of one, and one that stands still or was set back stops none.
 */
function untilDue({ startedUp, last }: BackupHistory, { every, clocks }: Schedule): number {
  if (last === null) return startedUp - clocks.up
  const byClock = last.at > clocks.time + AHEAD_MS ? 0 : last.at + every - clocks.time
  if (last.up === null) return Math.min(byClock, startedUp + every - clocks.up)
  const elapsed = clocks.up - last.up
  return Math.min(Math.max(byClock, every / 2 - elapsed), every - elapsed)
}

function restOf(every: number): number {
  return Math.min(REST_MS, every)
}

/** Doubles from a minute to a quarter of an hour; never longer than the pause between two backups. */
function retryDelay(failures: number, every: number): number {
  return Math.min(every, LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1))
}

/** `mark` tells the data folders apart whose backups share a folder. Sorts by time, and is a name on every system. */
export function backupName(backup: { at: number; mark: string; isSealed: boolean }): string {
  const { at, mark, isSealed } = backup
  const time = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')
  return `oncebox-backup-${time}Z-${mark}.tar${isSealed ? '.age' : ''}`
}

/** The time in a name of `backupName`; null for any other name. */
export function timeOfBackup(name: string): number | null {
  const found = /^oncebox-backup-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z-\w+\.tar/.exec(name)
  if (found === null) return null
  const [, day, hour, minute, second] = found
  const time = Date.parse(`${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(time) ? null : time
}

/** Those that may go, oldest first. `present` are whole and in the order in which they were made. */
export function surplusBackups<B>(present: readonly B[], keep: number): B[] {
  return present.slice(0, Math.max(0, present.length - Math.max(1, keep)))
}
