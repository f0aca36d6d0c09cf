// Stores the clock's mark while the server is idle, and its doubts at once, so that the next start knows the last time of use.

import { type Clock, type Doubt, explainBehind, explainDoubt } from '../../../domain/clock.ts'
import type { Job } from '../../../domain/job.ts'
import { HOUR, type Now, SECOND } from '../../../domain/time.ts'
import type { Transact } from './group-commit.ts'

/** How often the clock is read when nothing else reads it. */
const LOOK_MS = 10 * SECOND

const TRUSTED = 'The clock of this machine is trusted again.'

export type ClockKeeping = {
  job: Job
  /** An administrator says that the clock is right. Resolves once that is durable. */
  accept(): Promise<void>
  /** A doubt began or ended. */
  changed(doubt: Doubt | null): void
  /** Stores the mark for the next start, if the database can be written to. */
  close(): Promise<void>
}

export type ClockKeepingOptions = {
  clock: Clock
  systemNow: Now
  transact: Transact
  /** Makes the next transaction write the mark. */
  forgetMark: () => void
  /** Within a transaction: corrects some dates of a doubted clock. Returns where to go on; null when that was all. */
  setBackSome: (before: number) => number | null
  onWarning: (warning: string) => void
  onError: (cause: unknown) => void
}

export function createClockKeeping(options: ClockKeepingOptions): ClockKeeping {
  const { clock, systemNow, transact, forgetMark, setBackSome, onWarning, onError } = options
  let timer: Timer | undefined
  let keptAt = clock.now()
  /** At the start the health checks tell. */
  let wasBehind = explainBack() !== null

  /** Every transaction writes the mark. */
  async function keep(): Promise<void> {
    forgetMark()
    keptAt = clock.now()
    let before: number | null = Number.MAX_SAFE_INTEGER
    while (before !== null) before = await transact(setBackFrom(before))
  }

  const setBackFrom = (before: number) => () => setBackSome(before)

  function explainBack(): string | null {
    return explainBehind({ said: systemNow(), was: clock.now() })
  }

  /** Tells once that the clock was set back, and once that it has caught up. */
  function lookBack(): void {
    const behind = explainBack()
    if ((behind !== null) !== wasBehind) onWarning(behind ?? TRUSTED)
    wasBehind = behind !== null
  }

  function changed(doubt: Doubt | null): void {
    if (doubt !== null) onWarning(explainDoubt(doubt))
    else if (explainBack() === null) onWarning(TRUSTED)
    // Deferred, because the clock may be read within a transaction.
    setImmediate(() => keep().catch(onError))
  }

  const job: Job = {
    name: 'clock',
    start: (report) => {
      keep().then(report.did, report.failed)
      timer = setInterval(() => {
        lookBack()
        if (clock.now() - keptAt >= HOUR) keep().then(report.did, report.failed)
      }, LOOK_MS)
    },
    stop: () => clearInterval(timer),
  }

  return {
    job,
    accept: async () => {
      clock.accept()
      await keep()
    },
    changed,
    close: () => keep().catch(() => undefined),
  }
}
