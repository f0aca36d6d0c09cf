// The backups that a server makes by itself: when, and how they are. A process of its own makes them.

import { type BackupHistory, type Clocks, timeToNextBackup } from '../../domain/backup-plan.ts'
import type { Job, JobReport } from '../../domain/job.ts'
import { HOUR, SECOND } from '../../domain/time.ts'
import type { Log } from '../log.ts'
import { createLedger, type LedgerOptions } from './ledger.ts'
import type { StartTask } from './process.ts'
import { createRounds } from './rounds.ts'
import { type BackupPlan, type BackupStatus, presentStatus } from './status.ts'
import type { BackupOrder } from './task.ts'
import { createTrouble, type Trial } from './trouble.ts'
import { createTurns } from './turns.ts'

export type BackupsOptions = Omit<LedgerOptions, 'folder' | 'isSealed'> & {
  plan: BackupPlan
  order: Omit<BackupOrder, 'name' | 'recipients' | 'keep'>
  /** Whether whoever has a backup has the instance key. */
  showsKey: boolean
  readClocks: () => Clocks
  startTask: StartTask
  log: Pick<Log, 'info' | 'warn'>
}

export type Backups = {
  job: Job
  status(): BackupStatus
  /** Begins one at once, or after what is being done in the folder. */
  makeNow(): void
}

const LOOK_MS = SECOND
/** So often it is looked whether the folder is still there. */
const VISIT_MS = HOUR

export function createBackups(options: BackupsOptions): Backups {
  const { plan, readClocks, startTask, log } = options
  const { folder, every, keep, recipients } = plan
  const ledger = createLedger({ ...options, folder, isSealed: recipients.length > 0 })
  const trouble = createTrouble({ folder, readClocks, log })
  const turns = createTurns(startTask)
  const order = { ...options.order, keep, recipients }
  const rounds = createRounds({ folder, order, readClocks, ledger, trouble, turns, log })
  const startedUp = readClocks().up
  let isAsked = false
  let timer: Timer | undefined
  let tickNow: () => void = () => undefined

  function history(): BackupHistory {
    const last = ledger.last()
    const { count: failures, up: failedUp } = trouble.setbacks()
    return { startedUp, last: last && { at: last.at, up: rounds.state().madeUp }, failures, failedUp }
  }

  /** What has to be done now. The first visit comes at once: a folder that cannot be used is told at the start. */
  function decide(): Trial | null {
    const clocks = readClocks()
    const { visitedUp } = rounds.state()
    // A new folder is made by the first visit.
    if (isAsked) return visitedUp === null ? 'visit' : 'make'
    const isSetBack = trouble.setbacks().count > 0
    if (visitedUp === null && !isSetBack) return 'visit'
    if (timeToNextBackup(history(), { every, clocks }) === 0) return visitedUp === null ? 'visit' : 'make'
    return !isSetBack && clocks.up - (visitedUp ?? 0) >= VISIT_MS ? 'visit' : null
  }

  function tick(report: JobReport): void {
    turns.take(async () => {
      const what = decide()
      if (what === 'make') isAsked = false
      if (what !== null) await rounds.run(what, report)
      // What was asked for has failed with it, and is told.
      if (rounds.state().visitedUp === null) isAsked = false
    })
  }

  function status(): BackupStatus {
    const clocks = readClocks()
    const { making, isSameDisk } = rounds.state()
    return presentStatus({
      ...{ ...plan, showsKey: options.showsKey, isSameDisk, history: history(), clocks },
      ...{ count: ledger.list().length, last: ledger.last() },
      making: making ?? (isAsked ? clocks.time : null),
      ...{ failure: trouble.last(), failures: trouble.total() },
    })
  }

  return {
    job: {
      name: 'backup',
      start: (report) => {
        timer = setInterval(tick, LOOK_MS, report)
        tickNow = () => tick(report)
      },
      stop: () => {
        clearInterval(timer)
        return turns.stop()
      },
    },
    status,
    makeNow: () => {
      isAsked = true
      tickNow()
    },
  }
}
