// Empties the write-ahead log after something was destroyed: until then the log still holds it.

import type { Database } from 'bun:sqlite'
import { isBusy, type OnStep } from './group-commit.ts'

const DELAY_MS = 3_000
const RETRY_MS = 250
const FOREIGN_COMMITS_MS = 2_000

export type Checkpointer = {
  /** Something was destroyed by a commit: the log is emptied within seconds, again and again while it is busy. */
  request(): void
  /** The disk is full: emptying the log gives its room back. */
  makeRoom(): void
  stop(): void
}

export function createCheckpointer(
  database: Database,
  { onError, onStep = () => undefined }: { onError: (cause: unknown) => void; onStep?: OnStep | undefined },
): Checkpointer {
  let timer: Timer | null = null
  const dataVersion = database.prepare<{ data_version: number }, []>('PRAGMA data_version')
  let seen = dataVersion.get()?.data_version
  const watch = setInterval(noticeForeignCommits, FOREIGN_COMMITS_MS)

  function request(delay = DELAY_MS): void {
    timer = timer ?? setTimeout(run, delay)
  }

  function run(): void {
    timer = null
    try {
      onStep('before the log is emptied')
      if (!truncateLog(database)) request(RETRY_MS)
      onStep('after the log was emptied')
    } catch (cause) {
      onError(cause)
      request()
    }
  }

  /** An account command beside the server may have destroyed something and been killed before it cleaned up. */
  function noticeForeignCommits(): void {
    try {
      const version = dataVersion.get()?.data_version
      if (version !== seen) request()
      seen = version
    } catch (cause) {
      onError(cause)
    }
  }

  function stop(): void {
    clearInterval(watch)
    if (timer !== null) clearTimeout(timer)
  }

  return { request: () => request(), makeRoom: () => request(RETRY_MS), stop }
}

/** Moves the whole log into the database and cuts it to nothing. False when somebody was reading or writing. */
export function truncateLog(database: Database): boolean {
  try {
    const row = database.query<{ busy: number }, []>('PRAGMA wal_checkpoint(TRUNCATE)').get()
    return row?.busy === 0
  } catch (cause) {
    if (isBusy(cause)) return false
    throw cause
  }
}
