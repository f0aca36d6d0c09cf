// Looks every minute whether another database uses the same objects, and sweeps every few minutes.

import { DomainError } from '../../domain/errors.ts'
import type { Job, JobReport } from '../../domain/job.ts'
import { MINUTE } from '../../domain/time.ts'
import { S3Failure } from './failures.ts'
import { MARK_LOOK_MS, type OwnerMark } from './owner-mark.ts'
import type { StraySweep } from './stray-sweep.ts'

/** Milliseconds: before the first look, between two looks, between two sweeps, and between two pages of a listing. */
export type Pauses = { first: number; look: number; between: number; page: number }

export const PAUSES: Pauses = { first: 10_000, look: MARK_LOOK_MS, between: 3 * MINUTE, page: 10_000 }

export type StraySweepJobOptions = StraySweep & {
  owner: Pick<OwnerMark, 'measureAlone' | 'claimedAt'>
  pauses: Pauses
}

export function createStraySweepJob({ sweep, owner, pauses, ...options }: StraySweepJobOptions): Job {
  let isStopped = false
  let timer: Timer | undefined
  let running: Promise<void> | null = null
  let sweptAt = Number.NEGATIVE_INFINITY

  async function lookOrSweep(): Promise<number> {
    if (performance.now() - sweptAt < pauses.between) {
      await owner.measureAlone()
      return 0
    }
    const removed = await sweep()
    sweptAt = performance.now()
    return removed
  }

  async function run(report: JobReport): Promise<void> {
    try {
      if ((await lookOrSweep()) > 0) report.did()
    } catch (cause) {
      // The operator was told when the store began to fail.
      if (!(cause instanceof S3Failure) && !(cause instanceof DomainError)) report.failed(cause)
    }
    // A bucket that could not be marked is asked again soon, for the sake of the nodes that wait for the mark.
    const pause = owner.claimedAt() === null ? pauses.first : pauses.look
    if (!isStopped) timer = setTimeout(next, pause, report)
  }

  function next(report: JobReport): void {
    running = run(report)
  }

  function start(report: JobReport): void {
    timer = setTimeout(next, pauses.first, report)
  }

  async function stop(): Promise<void> {
    isStopped = true
    options.stop()
    clearTimeout(timer)
    await running
  }

  return { name: 'bucket', start, stop }
}
