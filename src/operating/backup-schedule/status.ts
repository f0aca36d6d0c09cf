// How the backups are: for the administration page, /readyz and the metrics.

import {
  type BackupHistory,
  type Clocks,
  isBackupOverdue,
  type MadeBackup,
  timeToNextBackup,
} from '../../domain/backup-plan.ts'
import { formatTime } from '../../domain/time.ts'
import { FINE, type Finding, type HealthCheck } from '../health.ts'
import { adviceFor } from './advice.ts'
import type { BackupFailure } from './trouble.ts'

export type BackupPlan = {
  folder: string
  /** Milliseconds from the beginning of one to that of the next. */
  every: number
  /** How many good ones stay. */
  keep: number
  /** Public keys; without any, everybody who has a backup can read it. */
  recipients: readonly string[]
}

export type BackupStatus = BackupPlan & {
  /** Whether whoever reads them has the instance key: it is in them, and they are not encrypted. */
  showsKey: boolean
  /** How many good ones of this server are in the folder. */
  count: number
  last: MadeBackup | null
  /** When the one that is being made began. */
  making: number | null
  /** Null while one is being made. */
  nextAt: number | null
  isOverdue: boolean
  /** Null before the folder was looked at. */
  isSameDisk: boolean | null
  /** The last one, unless it was made good. */
  failure: BackupFailure | null
  /** Since the server started. */
  failures: number
}

export type StatusFacts = Omit<BackupStatus, 'nextAt' | 'isOverdue'> & {
  history: BackupHistory
  clocks: Clocks
}

export function presentStatus({ history, clocks, ...facts }: StatusFacts): BackupStatus {
  const schedule = { every: facts.every, clocks }
  return {
    ...facts,
    nextAt: facts.making === null ? clocks.time + timeToNextBackup(history, schedule) : null,
    isOverdue: isBackupOverdue(history, schedule),
  }
}

/** Told and never blocking: a server without backups works, and other servers would not work better in its place. */
export function createBackupCheck(status: () => BackupStatus): HealthCheck {
  return { name: 'backup', look: () => examine(status()) }
}

function examine({ folder, last, making, failure, isOverdue }: BackupStatus): Finding {
  const good =
    last === null ? 'There is no backup yet.' : `The last good backup is of ${formatTime(last.at)}.`
  if (failure !== null) {
    const said = `No backup was made in ${folder} at ${formatTime(failure.at)}: ${failure.words}.`
    return { todo: `${said} ${adviceFor(failure.code, folder)} ${good}` }
  }
  if (!isOverdue) return FINE
  const why =
    making === null
      ? 'See the log.'
      : `One that began at ${formatTime(making)} is not done yet: check the disk.`
  return { todo: `The backup in ${folder} is overdue. ${why} ${good}` }
}
