// Runs the sweeper: a full sweep at regular intervals, and in between whenever a push expires by time.

import type { Trusted } from '../domain/clock.ts'
import type { Job, JobReport } from '../domain/job.ts'
import type { Sweeper } from '../pushes/sweeper.ts'
import type { Log } from './log.ts'

/** The longest wait, so that the job soon notices a clock change, a machine that slept, and new pushes. */
const LOOK_AGAIN_MS = 1_000
const RETRY_MS = 5_000
/** The pause between two runs, which leaves time for requests even if much is due. */
const BREATH_MS = 10

type SweepJobOptions = {
  sweeper: Pick<Sweeper, 'sweep' | 'stop'>
  every: number
  log: Pick<Log, 'info'>
}

/** Sweeps at the start, then every `every` milliseconds. */
export function createSweepJob({ sweeper, every, log }: SweepJobOptions): Job {
  let timer: Timer | undefined

  async function sweep(report: JobReport): Promise<void> {
    try {
      const { expired, purged, files } = await sweeper.sweep()
      if (expired + purged + files > 0) log.info({ expired, purged, files }, 'swept')
      report.did()
    } catch (cause) {
      report.failed(cause)
    }
  }

  function start(report: JobReport): void {
    timer = setInterval(sweep, every, report)
    void sweep(report)
  }

  async function stop(): Promise<void> {
    clearInterval(timer)
    await sweeper.stop()
  }

  return { name: 'sweep', start, stop }
}

type ExpiryJobOptions = {
  sweeper: Pick<Sweeper, 'findNextDue' | 'expireDue' | 'stop'>
  trusted: Trusted
}

/** Waits for the next expiry by time, and expires those pushes then. */
export function createExpiryJob({ sweeper, trusted }: ExpiryJobOptions): Job {
  let isStopped = false
  let timer: Timer | undefined

  async function run(report: JobReport): Promise<void> {
    const wait = await expireAndLook(report)
    if (!isStopped) timer = setTimeout(run, wait, report)
  }

  /** Returns the milliseconds until the next run. */
  async function expireAndLook(report: JobReport): Promise<number> {
    try {
      const due = await remaining()
      if (due > 0) return Math.min(due, LOOK_AGAIN_MS)
      await sweeper.expireDue()
      report.did()
      return Math.min(Math.max(await remaining(), BREATH_MS), LOOK_AGAIN_MS)
    } catch (cause) {
      report.failed(cause)
      return RETRY_MS
    }
  }

  async function remaining(): Promise<number> {
    const next = await sweeper.findNextDue()
    const time = trusted()
    return next === null || time === null ? LOOK_AGAIN_MS : next - time
  }

  function start(report: JobReport): void {
    timer = setTimeout(run, 0, report)
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    await sweeper.stop()
  }

  return { name: 'expiry', start, stop }
}
