// Starts and stops every job of a server, logs their failures, and records when each last found something to
// do.

import { DomainError, isDomainError } from '../domain/errors.ts'
import type { Job, JobName, JobReport } from '../domain/job.ts'
import { type Now, SECOND } from '../domain/time.ts'

export type JobStatus = {
  name: JobName
  state: 'running' | 'stopped'
  lastDidAt: number | null
  lastFailedAt: number | null
}

export type Jobs = ReturnType<typeof createJobs>

type JobsOptions = {
  jobs: readonly Job[]
  now: Now
  log: { error(fields: { job: string; err?: unknown }, message: string): void }
  /** Whether the log already explains why the database server refuses jobs; left out with SQLite. */
  isOut?: (() => boolean) | undefined
}

/** How long a database server may refuse a job before that is logged. Outages are noticed sooner. */
const PASSES_MS = 30 * SECOND

/** The codes of a database server that is unreachable, read-only, or has a full disk. */
const REFUSALS = ['overloaded', 'disk_full'] as const

export function createJobs({ jobs, now, log, isOut }: JobsOptions) {
  const entries = jobs.map((job): { job: Job; status: JobStatus } => ({
    job,
    status: { name: job.name, state: 'stopped', lastDidAt: null, lastFailedAt: null },
  }))

  function reportOf(status: JobStatus): JobReport {
    /** The failure that was logged last and still persists; null when the last run succeeded. */
    let told: string | null = null
    /** When the database server began to refuse the job; null while it accepts it. */
    let refusedAt: number | null = null
    const isExplained = (cause: unknown) => {
      if (isOut === undefined || !REFUSALS.some((code) => isDomainError(cause, code))) return false
      refusedAt ??= now()
      return isOut() || now() - refusedAt < PASSES_MS
    }
    return {
      did: () => {
        status.lastDidAt = now()
        told = null
        refusedAt = null
      },
      failed: (cause, { isTold } = { isTold: false }) => {
        status.lastFailedAt = now()
        if (isExplained(cause)) return
        const said = String(cause)
        if (!isTold && said !== told) logFailure(status.name, cause)
        told = said
      },
    }
  }

  /** Logs the message of a refusal, which explains itself, and the stack of any other error. */
  function logFailure(job: JobName, cause: unknown): void {
    if (cause instanceof DomainError) log.error({ job }, `a job failed: ${cause.message}`)
    else log.error({ job, err: cause }, 'a job failed')
  }

  /** Starts all jobs or none: if one throws, stops the others before it rejects. */
  async function start(): Promise<void> {
    try {
      for (const { job, status } of entries) {
        status.state = 'running'
        job.start(reportOf(status))
      }
    } catch (cause) {
      await stop()
      throw cause
    }
  }

  /** Resolves when all jobs have stopped. Logs a job that fails to stop, and stops the others anyway. */
  async function stop(): Promise<void> {
    await Promise.all(entries.map(stopJob))
  }

  async function stopJob({ job, status }: (typeof entries)[number]): Promise<void> {
    try {
      await job.stop()
    } catch (cause) {
      logFailure(job.name, cause)
    }
    status.state = 'stopped'
  }

  return { start, stop, list: () => entries.map(({ status }) => ({ ...status })) }
}
