// Truncates the WAL after something was destroyed, because until then it still holds the destroyed data; and
// checkpoints it when it has grown. A thread does this, because every checkpoint waits for the disk several
// times.

import type { Database } from 'bun:sqlite'
import type { Job, JobReport } from '../../domain/job.ts'
import { atStep } from '../durable-steps.ts'
import { isBusy, isFull } from '../folder/sqlite-failures.ts'
import { type LogEmptier, openLogEmptier } from './disk-threads.ts'

const DELAY_MS = 3_000
const RETRY_MS = 250
const FOREIGN_COMMITS_MS = 2_000
const NEVER = Number.POSITIVE_INFINITY

export type Checkpointer = Job & {
  /**
   * Requests a truncation of the WAL within seconds, with retries while it is busy. Call this when a commit
   * destroyed something.
   */
  request(): void
  /** Truncates the WAL at once, because that frees disk space. Call this when the disk is full. */
  makeRoom(): void
  /** Checkpoints the WAL at once, so that it restarts. Call this when it has grown. */
  shorten(): void
}

export type CheckpointerOptions = {
  /** Called if the disk failed, after which the database cannot be trusted. */
  onFatal: (cause: unknown) => void
}

type Started = { report: JobReport; emptier: LogEmptier }

/**
 * Makes the checkpointer. Serves requests from before its start later; ignores those after its stop, so the
 * caller must use `truncateLog`.
 */
export function createCheckpointer(database: Database, { onFatal }: CheckpointerOptions): Checkpointer {
  const dataVersion = database.prepare<{ data_version: number }, []>('PRAGMA data_version')
  let seen = dataVersion.get()?.data_version
  let started: Started | null = null
  let due = NEVER
  let isLong = false
  let timer: Timer | undefined
  let watch: Timer | undefined
  let running: Promise<void> | null = null

  function request(delay = DELAY_MS): void {
    const at = performance.now() + delay
    if (at >= due) return
    due = at
    if (running === null) plan()
  }

  function shorten(): void {
    // A running checkpoint shortens the WAL as well.
    if (isLong || running !== null) return
    isLong = true
    plan()
  }

  function plan(): void {
    clearTimeout(timer)
    if (started === null) return
    const wait = Math.max(0, due - performance.now())
    if (isLong && wait > 0) timer = setTimeout(run, 0, started, 'move')
    else if (due !== NEVER) timer = setTimeout(run, wait, started, 'empty')
  }

  function run(now: Started, how: 'move' | 'empty'): void {
    isLong = false
    if (how === 'empty') due = NEVER
    running = checkpoint(now, how).finally(() => {
      running = null
      plan()
    })
  }

  async function checkpoint({ report, emptier }: Started, how: 'move' | 'empty'): Promise<void> {
    try {
      atStep('before the log is emptied')
      const isDone = await emptier[how]()
      // The thread's commits count as foreign here. After a checkpoint alone, leave `seen` as it is: the WAL
      // may still hold what a command has destroyed.
      if (how === 'empty') seen = dataVersion.get()?.data_version
      if (isDone) report.did()
      else if (how === 'empty') request(RETRY_MS)
      atStep('after the log was emptied')
    } catch (cause) {
      report.failed(cause)
      if (!isFull(cause) && !isBusy(cause)) onFatal(cause)
      request()
    }
  }

  /**
   * Requests a truncation if an account command beside the server has committed. It may have destroyed
   * something and been killed before it truncated the WAL itself.
   */
  function noticeForeignCommits(to: JobReport): void {
    try {
      const version = dataVersion.get()?.data_version
      if (version !== seen) request()
      seen = version
    } catch (cause) {
      to.failed(cause)
    }
  }

  function start(report: JobReport): void {
    started = { report, emptier: openLogEmptier(database.filename) }
    watch = setInterval(noticeForeignCommits, FOREIGN_COMMITS_MS, report)
    plan()
  }

  async function stop(): Promise<void> {
    const emptier = started?.emptier
    started = null
    clearInterval(watch)
    clearTimeout(timer)
    await running
    await emptier?.close()
  }

  const makeRoom = () => request(0)
  return { name: 'checkpoint', start, stop, request: () => request(), makeRoom, shorten }
}

/**
 * Checkpoints the whole WAL and truncates it. Returns false when another connection was reading or writing.
 */
export function truncateLog(database: Database): boolean {
  try {
    const row = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()
    return row?.busy === 0
  } catch (cause) {
    if (isBusy(cause)) return false
    throw cause
  }
}
