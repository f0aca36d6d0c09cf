// One batch of a group commit: runs its works in one transaction and commits them together.
//
// A work that throws undoes only itself: the batch is rolled back and runs again, with each work in a
// savepoint of its own. Savepoints are not used from the start, because SQLite copies each changed page for
// each savepoint, and works rarely throw. So a work may run twice, and must have no effects outside the
// database.

import type { Database } from 'bun:sqlite'
import { atStep } from '../durable-steps.ts'
import { isBusy, isFull, refusalOf } from '../folder/sqlite-failures.ts'

/** Works that are left after this time go to the next batch. */
export const MAX_BATCH_MS = 20

export type Outcome = { value: unknown } | { cause: unknown }

/** `outcomes` of the works that ran; `hasWritten` is false when they only read. */
export type Committed = { outcomes: Outcome[]; hasWritten: boolean }

export type BatchOptions = {
  database: Database
  /** Runs within every batch, before its works. */
  beforeWorks?: () => void
  /** Called after a batch, including the effects of `beforeWorks`, was rolled back. */
  onUndone?: () => void
  /**
   * Called, perhaps more than once, after a full disk has undone a work or a batch. Returns true when it has
   * freed reserved space.
   */
  onFull?: () => boolean
}

type Work = { run: () => unknown }

export function createBatches(options: BatchOptions) {
  const { database } = options
  const savepoint = database.prepare('SAVEPOINT work')
  const release = database.prepare('RELEASE work')
  const rollbackTo = database.prepare('ROLLBACK TO work')
  const totalChanges = database.prepare<{ n: number }, []>('SELECT total_changes() AS n')
  let broken: { cause: unknown } | null = null

  /** Begins the transaction of a batch. Returns null, or the error that prevented it. */
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
   * Runs as many works as there is time for, from the first on, and returns once they are committed. Throws
   * when the whole transaction was lost; then nothing of the batch is stored.
   */
  function commit(works: readonly Work[]): Committed {
    try {
      const before = totalChanges.get()?.n
      const outcomes = runPlainly(works) ?? runEach(works)
      const hasWritten = totalChanges.get()?.n !== before
      finish()
      return { outcomes, hasWritten }
    } catch (cause) {
      rollback()
      throw cause
    }
  }

  /**
   * Returns the outcomes when every work succeeded. When one threw, begins a new transaction and returns
   * null.
   */
  function runPlainly(works: readonly Work[]): Outcome[] | null {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    try {
      for (const { run } of works) {
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

  /** Runs each work in a savepoint. Throws when one of them ended the transaction. */
  function runEach(works: readonly Work[]): Outcome[] {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    for (const work of works) {
      const outcome = runInSavepoint(work)
      if (!database.inTransaction)
        throw 'cause' in outcome ? outcome.cause : new Error('a work ended the transaction')
      outcomes.push(outcome)
      if (performance.now() > deadline) break
    }
    return outcomes
  }

  function runInSavepoint({ run }: Work): Outcome {
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
