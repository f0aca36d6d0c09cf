// How a job that runs every few seconds tells of its runs, so that the log does not say the same again and again.

import { isDomainError } from '../../domain/errors.ts'
import type { JobReport } from '../../domain/job.ts'

export type RunReport = { did(): void; failed(cause: unknown): void }

/** A failure that goes on is told once. Refusals of the store are left to the log, which knows them. */
export function tellOnce(report: JobReport): RunReport {
  let told: string | null = null
  return {
    did: () => {
      told = null
      report.did()
    },
    failed: (cause) => {
      report.failed(cause, { isTold: !isDomainError(cause) && String(cause) === told })
      told = String(cause)
    },
  }
}
