// Group commit: the works that wait run in one transaction and share one fsync.
//
// Every work is synchronous. A work that throws undoes only itself: the batch is rolled back and run once more, each work
// in a savepoint of its own. Savepoints for all would cost every batch what hardly any needs, since SQLite keeps a copy of
// each page for each of them. So a work may run twice, and leaves nothing behind but rows. When the transaction as a whole
// is lost, every work of the batch is rejected: nothing of it was acknowledged.

import type { Database } from 'bun:sqlite'
import { DomainError } from '../../../domain/errors.ts'
import { codeOf } from '../../../domain/system-errors.ts'

const MAX_BATCH_WORKS = 256
const MAX_BATCH_MS = 20
/** Milliseconds of one turn of the event loop that batches may take together. */
const MAX_TURN_MS = 60
const MAX_WAITING = 10_000
/** Above both thresholds the queue counts as overloaded, not as a hiccup of the disk or of the machine. */
const CROWD_WORKS = 100
const CROWD_MS = 250
const BUSY_RETRY_MS = 10
const BUSY_LIMIT_MS = 5_000

/** Runs a work in a transaction; resolves with its result once that is durable. Promises are refused. */
export type Transact = <T>(
  work: () => T extends PromiseLike<unknown> ? never : T,
  options?: WorkOptions,
) => Promise<T>

/** `grows`: it stores something new, which a full disk refuses; anything else is tried again once there is room. */
export type WorkOptions = { grows?: boolean }

export type GroupCommit = {
  transact: Transact
  /** Whether so many works have waited for so long that new requests had better come back later. */
  isOverloaded(): boolean
  /** Commits works that have waited for too long. Called with every request: a busy event loop may not reach them soon. */
  commitOverdue(): void
  /** Resolves when nothing waits any more. */
  idle(): Promise<void>
  /** Works that wait. */
  waiting(): number
}

export type GroupCommitOptions = {
  database: Database
  /** Runs within every batch, before its works. */
  beforeWorks?: () => void
  /** A batch was rolled back, with what `beforeWorks` did for it. */
  onUndone?: () => void
  /**
   * The disk had no room for a work or a batch, which was undone; may be told more than once. True when there is room
   * now, kept for this.
   */
  onFull?: () => boolean
  /** Told before and after every commit: tests end the process there. */
  onStep?: OnStep
  /** Told of every batch that became durable. */
  onCommitted?: ((batch: { works: number; durationMs: number }) => void) | undefined
  /** The store cannot be trusted any more, as after a failed fsync: the process must end. */
  onFatal: (cause: unknown) => void
}

/** Named by what is about to be made durable, or has just been. */
export type OnStep = (step: string) => void

type Work = { run: () => unknown; grows: boolean; since: number; settle: (outcome: Outcome) => void }
type Outcome = { value: unknown } | { cause: unknown }

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const { database, onFatal } = options
  const savepoint = database.prepare('SAVEPOINT work')
  const release = database.prepare('RELEASE work')
  const rollbackTo = database.prepare('ROLLBACK TO work')
  let waiting: Work[] = []
  let scheduled = false
  /** Another process held the lock at the last try. */
  let isLocked = false
  let whenIdle: (() => void)[] = []
  let broken: { cause: unknown } | null = null

  function transact<T>(run: () => T, { grows = false }: WorkOptions = {}): Promise<T> {
    if (waiting.length >= MAX_WAITING) return Promise.reject(overloaded())
    return new Promise<T>((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if ('cause' in outcome) reject(outcome.cause)
        else resolve(outcome.value as T)
      }
      waiting.push({ run, grows, since: performance.now(), settle })
      schedule()
    })
  }

  function schedule(delay = 0): void {
    if (scheduled) return
    scheduled = true
    if (delay === 0) setImmediate(runBatches)
    else setTimeout(runBatches, delay)
  }

  /** Several in a row when many works wait: a turn of a busy event loop takes long, and brings only one call of this. */
  function runBatches(): void {
    scheduled = false
    const ends = performance.now() + MAX_TURN_MS
    while (waiting.length > 0) {
      runBatch()
      if (isLocked || performance.now() >= ends) break
    }
    if (waiting.length > 0) schedule(isLocked ? BUSY_RETRY_MS : 0)
    else becomeIdle()
  }

  function runBatch(): void {
    const refused = broken === null ? begin() : broken.cause
    isLocked = refused !== null && isBusy(refused)
    if (isLocked) rejectLate()
    else if (refused === null) commitBatch(waiting.splice(0, MAX_BATCH_WORKS))
    else rejectAll(waiting.splice(0, MAX_BATCH_WORKS), refused)
  }

  function begin(): unknown {
    try {
      database.run('BEGIN IMMEDIATE')
      return null
    } catch (cause) {
      return cause
    }
  }

  function rejectLate(): void {
    const oldest = performance.now() - BUSY_LIMIT_MS
    const late = waiting.filter(({ since }) => since <= oldest)
    waiting = waiting.filter(({ since }) => since > oldest)
    rejectAll(late, overloaded())
  }

  function commitBatch(batch: Work[]): void {
    try {
      const startedAt = performance.now()
      const outcomes = runPlainly(batch) ?? runWorks(batch)
      commit()
      options.onCommitted?.({ works: outcomes.length, durationMs: performance.now() - startedAt })
      waiting.unshift(...batch.splice(outcomes.length))
      for (const [index, outcome] of outcomes.entries()) batch[index]?.settle(outcome)
    } catch (cause) {
      rollback()
      const hasRoom = isFull(cause) && options.onFull?.() === true
      rejectAll(hasRoom ? batch.filter(({ grows }) => grows) : batch, cause)
      if (hasRoom) waiting.unshift(...batch.filter(({ grows }) => !grows))
      if (broken !== null) onFatal(broken.cause)
    }
  }

  /** The outcomes, when every work went well; null when one threw, after which the transaction is begun anew. */
  function runPlainly(batch: Work[]): Outcome[] | null {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    try {
      for (const { run } of batch) {
        const value = run()
        if (isPromiseLike(value) || !database.inTransaction) return beginAnew()
        outcomes.push({ value })
        if (performance.now() > deadline) break
      }
      return outcomes
    } catch (cause) {
      // A full disk ends the transaction under its work; what that means is decided there.
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

  /** The outcomes of as many works as fit the time. Throws when the transaction ended under one of them. */
  function runWorks(batch: Work[]): Outcome[] {
    options.beforeWorks?.()
    const deadline = performance.now() + MAX_BATCH_MS
    const outcomes: Outcome[] = []
    for (const work of batch) {
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
      if (isPromiseLike(value)) throw new TypeError('work on a transaction must be synchronous')
      release.run()
      return { value }
    } catch (cause) {
      undoSavepoint()
      if (isFull(cause)) options.onFull?.()
      return { cause: translate(cause) }
    }
  }

  /** After a full disk the savepoint is gone with its transaction: then the whole batch is given up. */
  function undoSavepoint(): void {
    if (!database.inTransaction) return
    try {
      rollbackTo.run()
      release.run()
    } catch {
      rollback()
    }
  }

  function commit(): void {
    try {
      options.onStep?.('before a commit')
      database.run('COMMIT')
      options.onStep?.('after a commit')
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

  function becomeIdle(): void {
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  function idle(): Promise<void> {
    if (waiting.length === 0 && !scheduled) return Promise.resolve()
    return new Promise((resolve) => whenIdle.push(resolve))
  }

  /** Milliseconds that the oldest work has waited. */
  function longestWait(): number {
    const [first] = waiting
    return first === undefined ? 0 : performance.now() - first.since
  }

  function isOverloaded(): boolean {
    return waiting.length > CROWD_WORKS && longestWait() > CROWD_MS
  }

  function commitOverdue(): void {
    // Works that wait for another process's lock are tried again by a timer.
    if (!isLocked && longestWait() > MAX_BATCH_MS) runBatch()
  }

  return { transact, isOverloaded, commitOverdue, idle, waiting: () => waiting.length }
}

/** Also a query of drizzle that nobody ran. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function rejectAll(batch: Work[], cause: unknown): void {
  for (const work of batch) work.settle({ cause: translate(cause) })
}

function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}

export function diskFull(): DomainError {
  return new DomainError('disk_full', 'The disk of this server is full; nothing was stored.')
}

/** SQLite's words for a full disk and for a lock held too long, in ours. */
export function translate(cause: unknown): unknown {
  if (isFull(cause)) return diskFull()
  return isBusy(cause) ? overloaded() : cause
}

export function isFull(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_FULL')
}

export function isBusy(cause: unknown): boolean {
  return codeOf(cause).startsWith('SQLITE_BUSY')
}
