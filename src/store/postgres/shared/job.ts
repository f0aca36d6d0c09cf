// What a node does for the shared state by itself: every second it exchanges counts, every minute it sweeps what has lapsed.

import type { Trusted } from '../../../domain/clock.ts'
import type { Job, JobReport } from '../../../domain/job.ts'
import { MINUTE, SECOND } from '../../../domain/time.ts'
import { type RunReport, tellOnce } from '../../every-engine/tell-once.ts'
import type { Transact } from '../engine/database.ts'
import { createLapsedSweep } from './lapsed-rows.ts'

const EXCHANGE_MS = SECOND
const SWEEP_MS = MINUTE

export type SharedJobOptions = {
  transact: Transact
  /** Exchanges the counts of nodes. */
  exchange: () => Promise<void>
  /** Gives back the tries that are still owed. */
  settle: () => Promise<void>
  trusted: Trusted
}

export function createSharedJob({ transact, exchange, settle, trusted }: SharedJobOptions) {
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()
  let sweptAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  const sweep = createLapsedSweep({ transact, trusted, isStopped: () => isStopped })

  async function runOnce(): Promise<void> {
    await settle()
    await exchange()
    if (performance.now() - sweptAt < SWEEP_MS) return
    sweptAt = performance.now()
    await sweep()
  }

  function runNext(report: RunReport): void {
    timer = setTimeout(() => {
      running = runOnce()
        .then(report.did, report.failed)
        .then(() => (isStopped ? undefined : runNext(report)))
    }, EXCHANGE_MS)
  }

  function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    return running
  }

  const job: Job = { name: 'shared', start: (report: JobReport) => runNext(tellOnce(report)), stop }
  return { job, sweep }
}
