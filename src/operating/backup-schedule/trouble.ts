// What went wrong with backups lately: told once, and again when the reason changes.

import type { Clocks } from '../../domain/backup-plan.ts'
import { DomainError } from '../../domain/errors.ts'
import type { JobReport } from '../../domain/job.ts'
import type { Log } from '../log.ts'
import { adviceFor } from './advice.ts'
import type { FailureCode, TaskFailure } from './task.ts'

/** What was tried: to make one, or to look at the folder. */
export type Trial = 'make' | 'visit'

export type BackupFailure = TaskFailure & { at: number }

export type Trouble = ReturnType<typeof createTrouble>

export type TroubleOptions = { folder: string; readClocks: () => Clocks; log: Pick<Log, 'info'> }

export function createTrouble({ folder, readClocks, log }: TroubleOptions) {
  let last: (BackupFailure & { by: Trial }) | null = null
  let total = 0
  let setbacks = { count: 0, up: 0 }

  /** Waits before the next try, without telling anybody. */
  function setBack(): void {
    setbacks = { count: setbacks.count + 1, up: readClocks().up }
  }

  function failed({ code, words }: TaskFailure, { by, report }: { by: Trial; report: JobReport }): void {
    const isTold = last !== null && last.code === code && last.words === words
    last = { code, words, by, at: readClocks().time }
    total += 1
    setBack()
    report.failed(explain(folder, { code, words }), { isTold })
  }

  /** What was seen to work mends what failed in the same way; a backup that was made mends all. */
  function mended({ by, report }: { by: Trial; report: JobReport }): void {
    if (by === 'visit' && last?.by === 'make') return
    setbacks = { count: 0, up: 0 }
    if (last === null) return
    last = null
    log.info({ folder }, 'backups work again')
    report.did()
  }

  return { setBack, failed, mended, last: () => last, total: () => total, setbacks: () => setbacks }
}

function explain(folder: string, { code, words }: { code: FailureCode; words: string }): DomainError {
  return new DomainError('conflict', `no backup was made in ${folder}: ${words}. ${adviceFor(code, folder)}`)
}
