// Empties the write-ahead log after something was destroyed, because the log still holds the destroyed data until then.

import type { Database } from 'bun:sqlite'
import type { Job, JobReport } from '../../../domain/job.ts'
import type { OnStep } from '../../every-engine/durable-steps.ts'
import { isBusy } from '../../folder/sqlite-failures.ts'

const DELAY_MS = 3_000
const RETRY_MS = 250
const FOREIGN_COMMITS_MS = 2_000

export type Checkpointer = Job & {
  /** Call this when a commit destroyed something: empties the log within seconds, and tries again while it is busy. */
  request(): void
  /** Call this when the disk is full: emptying the log frees its space. */
  makeRoom(): void
}

/** A request before the start is served after it. A request after the stop is not: the caller then uses `truncateLog`. */
export function createCheckpointer(
  database: Database,
  { onStep = () => undefined }: { onStep?: OnStep | undefined } = {},
): Checkpointer {
  const dataVersion = database.prepare<{ data_version: number }, []>('PRAGMA data_version')
  let seen = dataVersion.get()?.data_version
  let report: JobReport | null = null
  let isRequested = false
  let timer: Timer | null = null
  let watch: Timer | undefined

  function request(delay = DELAY_MS): void {
    isRequested = true
    if (report !== null) timer = timer ?? setTimeout(run, delay, report)
  }

  function run(to: JobReport): void {
    timer = null
    isRequested = false
    try {
      onStep('before the log is emptied')
      if (truncateLog(database)) to.did()
      else request(RETRY_MS)
      onStep('after the log was emptied')
    } catch (cause) {
      to.failed(cause)
      request()
    }
  }

  /** An account command beside the server may have destroyed something and been killed before it emptied the log. */
  function noticeForeignCommits(to: JobReport): void {
    try {
      const version = dataVersion.get()?.data_version
      if (version !== seen) request()
      seen = version
    } catch (cause) {
      to.failed(cause)
    }
  }

  function start(to: JobReport): void {
    report = to
    watch = setInterval(noticeForeignCommits, FOREIGN_COMMITS_MS, to)
    if (isRequested) request()
  }

  function stop(): void {
    report = null
    clearInterval(watch)
    if (timer !== null) clearTimeout(timer)
  }

  const makeRoom = () => request(RETRY_MS)
  return { name: 'checkpoint', start, stop, request: () => request(), makeRoom }
}

/** Moves the whole log into the database and truncates it. Returns false when another connection was reading or writing. */
export function truncateLog(database: Database): boolean {
  try {
    const row = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()
    return row?.busy === 0
  } catch (cause) {
    if (isBusy(cause)) return false
    throw cause
  }
}
