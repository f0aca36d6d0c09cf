// A background job, which runs on a timer. Rooms share its types; operating/jobs.ts starts and stops jobs.

export type JobName =
  | 'expiry'
  | 'sweep'
  | 'checkpoint'
  | 'reserve'
  | 'clock'
  | 'certificate'
  | 'backup'
  | 'heartbeat'
  | 'appearance'
  | 'deliveries'

/** Reports the runs of a job. */
export type JobReport = {
  /** Reports that the run found something to do. */
  did(): void
  /**
   * Reports a failed run, which the job retries. `isTold`: the cause is that of the run before and already
   * logged.
   */
  failed(cause: unknown, options?: { isTold: boolean }): void
}

export type Job = {
  name: JobName
  /** Is called once. Throws only when the server cannot run without this job. */
  start(report: JobReport): void
  /** Resolves once the current step has ended. Does nothing for a job that was not started. */
  stop(): void | Promise<void>
}
