// One batch of a group commit: runs its steps in one transaction and commits them together.
//
// A step that throws undoes only itself: the batch is rolled back and runs again, with each step in a
// savepoint of its own. Savepoints are not used from the start, because SQLite copies each changed page for
// each savepoint, and steps rarely throw. So a step may run twice, and must have no effects outside the
// database.

import type { Database } from 'bun:sqlite'
import { atStep } from '../durable-steps.ts'
import { isBusy, isFull, refusalOf } from '../folder/sqlite-failures.ts'

/** The time for one batch; steps left over go to the next. */
export const MAX_BATCH_MS = 20

export type Outcome = { value: unknown } | { cause: unknown }

/** `outcomes` of the steps that ran; `hasWritten` is false when they only read. */
export type Committed = { outcomes: Outcome[]; hasWritten: boolean }

export type BatchOptions = {
  database: Database
  /** Runs within every batch, before its steps. */
  beforeWorks?: () => void
  /** Called after a batch was rolled back, including the effects of `beforeWorks`. */
  onUndone?: () => void
  /**
   * Called after a full disk has undone a step or a batch, perhaps more than once. Returns true if it has
   * freed reserved space.
   */
  onFull?: () => boolean
}

type QueuedStep = { run: () => unknown }

export function createBatches(options: BatchOptions) {
  const { database } = options
  const savepoint = database.prepare('SAVEPOINT step')
  const release = database.prepare('RELEASE step')
  const rollbackTo = database.prepare('ROLLBACK TO step')
  const totalChanges = database.prepare<{ n: number }, []>('SELECT total_changes() AS n')
  let broken: { cause: unknown } | null = null

  /** Begins the transaction of a batch. Returns null on success, or the error. */
  function begin(): unknown {
    if (broken !== null) return broken.cause
    try {
      database.run('BEGIN IMMEDIATE')
      return null
    } catch (cause) {
      return cause
    }
  }

  /**
   * Runs steps in order until the time is used up, and returns once they are committed. Throws if the whole
   * transaction was lost; then nothing of the batch is stored.
   */
  function commit(steps: readonly QueuedStep[]): Committed {
    try {
      const before = totalChanges.get()?.n
      const outcomes = runPlainly(steps) ?? runEach(steps)
      const hasWritten = totalChanges.get()?.n !== before
      finish()
      return { outcomes, hasWritten }
    } catch (cause) {
      rollback()
      throw cause
    }
  }

  /**
   * Returns the outcomes if every step succeeded. If one threw, begins a new transaction and returns null.
   */
  function runPlainly(steps: readonly QueuedStep[]): Outcome[] | null {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    try {
      for (const { run } of steps) {
        const value = run()
        if (!database.inTransaction) return beginAnew()
        outcomes.push({ value })
        if (performance.now() > deadline) break
      }
      return outcomes
    } catch (cause) {
      // A full disk ends the whole transaction, which the caller handles.
      if (isFull(cause)) throw cause
      return beginAnew()
    }
  }

  function beginAnew(): null {
    if (database.inTransaction) database.run('ROLLBACK')
    options.onUndone?.()
    database.run('BEGIN IMMEDIATE')
    return null
  }

  /** Runs each step in a savepoint. Throws if one of them ended the transaction. */
  function runEach(steps: readonly QueuedStep[]): Outcome[] {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    for (const step of steps) {
      const outcome = runInSavepoint(step)
      if (!database.inTransaction)
        throw 'cause' in outcome ? outcome.cause : new Error('a step ended the transaction')
      outcomes.push(outcome)
      if (performance.now() > deadline) break
    }
    return outcomes
  }

  function runInSavepoint({ run }: QueuedStep): Outcome {
    try {
      savepoint.run()
      const value = run()
      release.run()
      return { value }
    } catch (cause) {
      undoSavepoint()
      if (isFull(cause)) options.onFull?.()
      return { cause: refusalOf(cause) }
    }
  }

  /**
   * A full disk may have ended the transaction and its savepoint. The caller then gives up the whole batch.
   */
  function undoSavepoint(): void {
    if (!database.inTransaction) return
    try {
      rollbackTo.run()
      release.run()
    } catch {
      rollback()
    }
  }

  function finish(): void {
    try {
      atStep('before a commit')
      database.run('COMMIT')
      atStep('after a commit')
    } catch (cause) {
      if (!isFull(cause) && !isBusy(cause)) broken = { cause }
      throw cause
    }
  }

  function rollback(): void {
    try {
      if (database.inTransaction) database.run('ROLLBACK')
      options.onUndone?.()
    } catch (cause) {
      broken = { cause }
    }
  }

  return {
    begin,
    commit,
    /** Refuses every further batch. */
    distrust: (cause: unknown): void => {
      broken ??= { cause }
    },
    /**
     * Returns the failure that made the database untrustworthy, such as a failed fsync; null while it can be
     * trusted.
     */
    brokenBy: () => broken,
  }
}
