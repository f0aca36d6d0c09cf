// A round of work in the folder of backups: a visit that looks what is there, or a new backup.

import type { Clocks } from '../../domain/backup-plan.ts'
import type { JobReport } from '../../domain/job.ts'
import { reasonOf } from '../../domain/system-errors.ts'
import type { Log } from '../log.ts'
import type { Ledger } from './ledger.ts'
import type { TaskResult } from './process.ts'
import type { BackupOrder, TaskDone, TaskFailure } from './task.ts'
import type { Trial, Trouble } from './trouble.ts'
import type { Turns } from './turns.ts'

export type RoundsOptions = {
  folder: string
  order: Omit<BackupOrder, 'name'>
  readClocks: () => Clocks
  ledger: Ledger
  trouble: Trouble
  turns: Turns
  log: Pick<Log, 'info' | 'warn'>
}

export type RoundsState = {
  /** The time that the machine was up when the last backup of this start began, and at the last visit. */
  madeUp: number | null
  visitedUp: number | null
  /** When the backup began that is being made. */
  making: number | null
  isSameDisk: boolean | null
}

export function createRounds(options: RoundsOptions) {
  const { folder, order, readClocks, ledger, trouble, turns, log } = options
  const state: RoundsState = { madeUp: null, visitedUp: null, making: null, isSameDisk: null }

  async function visit(report: JobReport): Promise<void> {
    state.visitedUp = null
    const result = await turns.run(ledger.taskFor(null))
    if (result.state !== 'done') return unsuccessful(result, 'visit', report)
    await ledger.settle(result)
    found(result)
    trouble.mended({ by: 'visit', report })
  }

  async function make(report: JobReport): Promise<void> {
    const { time: at, up } = readClocks()
    const begun = performance.now()
    state.making = at
    const name = await ledger.begin(at)
    const result = await turns.run(ledger.taskFor({ ...order, name }))
    if (result.state !== 'done') return unsuccessful(result, 'make', report)
    const durationMs = Math.round(performance.now() - begun)
    await ledger.settle(result, { name, at, durationMs })
    state.madeUp = up
    found(result)
    trouble.mended({ by: 'make', report })
    const { bytes } = ledger.last() ?? {}
    log.info({ folder, file: name, bytes, durationMs, removed: result.removed.length }, 'made a backup')
    if (result.damage.length > 0)
      log.warn(
        { folder, damage: result.damage },
        'the database is damaged, so the earlier backups stay: see docs/damage.md',
      )
    if (result.notRemoved !== null) log.warn({ folder }, `an old backup stays: ${result.notRemoved}`)
    report.did()
  }

  function found(done: TaskDone): void {
    state.visitedUp = readClocks().up
    if (state.isSameDisk === null)
      log.info({ folder, good: ledger.list().length, last: ledger.last()?.name }, 'backups go to this folder')
    if (done.isSameDisk && state.isSameDisk !== true)
      log.warn({ folder }, 'backups are on the disk of the data, and would be lost with it')
    state.isSameDisk = done.isSameDisk
  }

  type Unsuccessful = Exclude<TaskResult, { state: 'done' }>

  /** A process that was asked to end, together with this one, has not failed. */
  function unsuccessful(result: Unsuccessful, by: Trial, report: JobReport): void {
    if (turns.isStopped()) return
    if (result.state === 'failed') trouble.failed(result, { by, report })
    else trouble.setBack()
  }

  async function run(by: Trial, report: JobReport): Promise<void> {
    try {
      await (by === 'make' ? make(report) : visit(report))
    } catch (cause) {
      trouble.failed(ownFailure(cause), { by, report })
    } finally {
      state.making = null
    }
  }

  return { run, state: (): Readonly<RoundsState> => state }
}

/** What this process could not do itself: to write the record in the data folder. */
function ownFailure(cause: unknown): TaskFailure {
  return { code: 'data', words: `in the data folder, ${reasonOf(cause)}` }
}
