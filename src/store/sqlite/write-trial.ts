// Finds out whether the database can be written to: for monitoring, once a write has failed or the disk
// hangs.

import { isDomainError, isOutage } from '../../domain/errors.ts'
import { reasonOf } from '../../domain/system-errors.ts'

/** The timeout of a trial, because monitoring waits for the answer. */
const TRIAL_MS = 1_000

export type WriteTrialOptions = {
  /** Commits a small change durably. */
  write: () => Promise<void>
  /** Returns when the running sync began, by `performance.now()`; null while none runs. */
  stuckSince: () => number | null
}

export function createWriteTrial({ write, stuckSince }: WriteTrialOptions) {
  /** Whether a write failed, without another try since. */
  let isSuspect = false
  let trial: Promise<string | null> | null = null

  /** Records a failed write, except a refusal, which says nothing about the database. */
  function noteFailure(cause: unknown): void {
    isSuspect ||= !isDomainError(cause) || isOutage(cause)
  }

  function isStuck(): boolean {
    return performance.now() - (stuckSince() ?? Number.POSITIVE_INFINITY) > TRIAL_MS
  }

  /**
   * Tries a write if one failed or hangs. Resolves to the reason of a failure, to follow a colon; null while
   * writes work.
   */
  async function findProblem(): Promise<string | null> {
    if (!isSuspect && !isStuck()) return null
    trial ??= tryToWrite().finally(() => {
      trial = null
    })
    const { promise: late, resolve } = Promise.withResolvers<string>()
    const timer = setTimeout(
      () => resolve('the disk does not answer, or another process holds the database'),
      TRIAL_MS,
    )
    return Promise.race([trial, late]).finally(() => clearTimeout(timer))
  }

  async function tryToWrite(): Promise<string | null> {
    try {
      await write()
      isSuspect = false
      return null
    } catch (cause) {
      return isDomainError(cause, 'disk_full') ? 'the disk is full' : reasonOf(cause)
    }
  }

  return { noteFailure, findProblem }
}
