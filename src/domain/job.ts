// A job: work that a server does by itself, on a timer. The types that rooms share; operating/jobs.ts starts
// and stops them.

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

/** How a job tells about its runs. */
export type JobReport = {
  /** Something was done. */
  did(): void
  /**
   * A run failed; the job tries again by itself. `isTold`: for the same reason as the run before, which is in
   * the log.
   */
  failed(cause: unknown, options?: { isTold: boolean }): void
}

export type Job = {
  name: JobName
  /** Called once. Throws only when the server cannot run without this job. */
  start(report: JobReport): void
  /** Resolves once the present step has ended. Does nothing for a job that was not started. */
  stop(): void | Promise<void>
}
