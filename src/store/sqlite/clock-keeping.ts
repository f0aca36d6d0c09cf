// Stores the clock's mark while the server is idle, and its doubts at once, so that the next start knows the
// last time of use.

import type { Database } from 'bun:sqlite'
import { type Clock, type Doubt, explainBehind, explainDoubt } from '../../domain/clock.ts'
import type { Job } from '../../domain/job.ts'
import { HOUR, MINUTE, type Now } from '../../domain/time.ts'
import { setBackDates } from '../pushes/doubted-dates.ts'
import type { Steps } from '../steps.ts'

const TRUSTED = 'The clock of this machine is trusted again.'

export type ClockKeepingOptions = {
  clock: Clock
  steps: Pick<Steps, 'write'>
  systemNow: Now
  /** Makes the next transaction write the mark. */
  forgetMark: () => void
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

export function createClockKeeping(options: ClockKeepingOptions) {
  const { clock, systemNow, steps, forgetMark, onWarning, onError } = options
  let timer: Timer | undefined
  let isEnded = false
  let last: Promise<void> = Promise.resolve()

  /** Writes marks one after another, so that nothing is written after the last one. */
  function keep(): Promise<void> {
    last = last.then(writeMark, writeMark)
    return last
  }

  /** Writes the mark by an empty change, since every transaction writes it. */
  async function writeMark(): Promise<void> {
    forgetMark()
    await setBackDates(steps, clock)
  }

  /** Stores and logs a doubt that began or ended. */
  function changed(doubt: Doubt | null): void {
    const behind = explainBehind({ said: systemNow(), was: clock.now() })
    onWarning(doubt === null ? (behind ?? TRUSTED) : explainDoubt(doubt))
    // Deferred, because the clock may be read within a transaction.
    setImmediate(() => {
      if (!isEnded) keep().catch(onError)
    })
  }

  const job: Job = {
    name: 'clock',
    start: (report) => {
      keep().then(report.did, report.failed)
      timer = setInterval(() => keep().then(report.did, report.failed), HOUR)
    },
    stop: () => clearInterval(timer),
  }

  return {
    job,
    /** Records that an administrator confirmed the clock. Resolves once that is durable. */
    accept: async () => {
      clock.accept()
      await keep()
    },
    changed,
    /** Stores the mark for the next start, if the database can be written to. */
    close: () => {
      isEnded = true
      return keep().catch(() => undefined)
    },
  }
}

/**
 * `mark` runs within every transaction, and stores the time at most once a minute. `undo` runs if the
 * transaction was rolled back.
 */
export function createClockMarker(database: Database, clock: Clock): { mark(): void; undo(): void } {
  const write = database.prepare('UPDATE instance SET clock_mark = ?, clock_doubted = ?')
  let written = Number.NEGATIVE_INFINITY
  function mark(): void {
    const time = clock.now()
    if (time - written < MINUTE) return
    const doubt = clock.doubt()
    write.run(doubt?.expected ?? time, doubt?.said ?? null)
    written = time
  }
  const undo = () => {
    written = Number.NEGATIVE_INFINITY
  }
  return { mark, undo }
}
