// Group commit: the steps that wait run in one transaction and share one sync.
//
// Every step is synchronous. When the whole transaction is lost, every step of the batch is rejected, because
// none of them was acknowledged.
//
// With a `sync` of its own, a commit writes the log and does not wait for the disk: a batch settles when a
// sync that began after its commit has returned. Meanwhile the event loop serves others, and the next steps
// gather.

import { isBusy, isFull, refusalOf } from '../folder/sqlite-failures.ts'
import { overloaded } from '../refusals.ts'
import { type BatchOptions, createBatches, MAX_BATCH_MS, type Outcome } from './batch.ts'
import { createSyncs, type Synced } from './syncs.ts'
import { createWriteTrial } from './write-trial.ts'

const MAX_BATCH_WORKS = 256
/** During a sync, a batch begins only once so many steps are waiting. */
const GATHERED_STEPS = 8
/** Milliseconds that batches may take together within one turn of the event loop. */
const MAX_TURN_MS = 60
const MAX_WAITING = 10_000
/** Above both thresholds the queue counts as overloaded, not as a hiccup of the disk or of the machine. */
const CROWD_STEPS = 100
const CROWD_MS = 250
const BUSY_RETRY_MS = 2
const BUSY_LIMIT_MS = 5_000

/** Runs a step in a transaction; resolves with its result once it is durable. */
export type Transact = <T>(work: () => T, options?: CommitOptions) => Promise<T>

/**
 * `grows`: the step stores something new, and is refused on a full disk. Other steps are retried once there
 * is room.
 */
export type CommitOptions = { grows?: boolean }

export type GroupCommit = {
  transact: Transact
  /** Whether to refuse new requests for now, because too many steps have waited for too long. */
  isOverloaded(): boolean
  /**
   * Commits steps that have waited for too long. Called with every request, because timers of a busy event
   * loop are late.
   */
  commitOverdue(): void
  /** Resolves when no step waits. */
  idle(): Promise<void>
  /** Resolves once everything that was committed so far is durable. */
  durable(): Promise<void>
  /** Steps that are not durable yet. */
  waiting(): number
  /**
   * Tries a write once one has failed. Resolves to the reason of a failure, to follow a colon; null while
   * writes work.
   */
  findWriteProblem(): Promise<string | null>
}

export type GroupCommitOptions = BatchOptions & {
  /** Makes earlier commits durable. If absent, every commit is durable by itself. */
  sync?: (() => Promise<void>) | undefined
  /** Takes the result of a finished sync in a long turn of the event loop. */
  noticeSync?: (() => void) | undefined
  /** Called for every batch that became durable. */
  onCommitted?: ((batch: { steps: number; durationMs: number }) => void) | undefined
  /** Makes the next batch write, even if its steps do not. */
  forceWrite?: () => void
  /** Called if the store cannot be trusted any more, as after a failed fsync. The process must end. */
  onFatal: (cause: unknown) => void
}

type QueuedStep = { run: () => unknown; grows: boolean; since: number; settle: (outcome: Outcome) => void }

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const batches = createBatches(options)
  const trial = createWriteTrial({ write: writeSomething, stuckSince: () => syncs.since() })
  const syncs = createSyncs({ sync: options.sync, onFailed, onReturned: runWaiting })
  let waiting: QueuedStep[] = []
  /** Steps that are not settled, committed or not. */
  let pending = 0
  let scheduled = false
  /** Whether another process held the lock at the last try. */
  let isLocked = false
  let whenIdle: (() => void)[] = []

  function transact<T>(run: () => T, { grows = false }: CommitOptions = {}): Promise<T> {
    if (pending >= MAX_WAITING) return Promise.reject(overloaded())
    pending += 1
    return new Promise<T>((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        pending -= 1
        if ('cause' in outcome) {
          trial.noteFailure(outcome.cause)
          reject(outcome.cause)
        } else resolve(outcome.value as T)
      }
      waiting.push({ run, grows, since: performance.now(), settle })
      schedule()
    })
  }

  /** Returns whether waiting steps should wait for more, at most until the running sync returns. */
  function isGathering(): boolean {
    return syncs.since() !== null && waiting.length < GATHERED_STEPS
  }

  function schedule(delay = 0): void {
    if (scheduled || isGathering()) return
    scheduled = true
    if (delay === 0) setImmediate(runBatches)
    else setTimeout(runBatches, delay)
  }

  /**
   * Runs several batches in a row while steps wait, because each turn of a busy event loop calls this only
   * once.
   */
  function runBatches(): void {
    scheduled = false
    if (isGathering()) return
    const ends = performance.now() + MAX_TURN_MS
    while (waiting.length > 0) {
      runBatch()
      if (isLocked || performance.now() >= ends) break
    }
    if (waiting.length > 0) schedule(isLocked ? BUSY_RETRY_MS : 0)
    else becomeIdle()
  }

  function runBatch(): void {
    const refused = batches.begin()
    isLocked = refused !== null && isBusy(refused)
    if (isLocked) rejectLate()
    else if (refused === null) commitBatch(waiting.splice(0, MAX_BATCH_WORKS))
    else rejectAll(waiting.splice(0, MAX_BATCH_WORKS), refused)
  }

  function rejectLate(): void {
    const oldest = performance.now() - BUSY_LIMIT_MS
    const late = waiting.filter(({ since }) => since <= oldest)
    waiting = waiting.filter(({ since }) => since > oldest)
    rejectAll(late, overloaded())
  }

  function commitBatch(batch: QueuedStep[]): void {
    try {
      const startedAt = performance.now()
      const { outcomes, hasWritten } = batches.commit(batch)
      waiting.unshift(...batch.splice(outcomes.length))
      const settle: Synced = (failure) => {
        options.onCommitted?.({ steps: outcomes.length, durationMs: performance.now() - startedAt })
        for (const [index, outcome] of outcomes.entries()) batch[index]?.settle(failure ?? outcome)
      }
      syncs.settle(settle, hasWritten)
    } catch (cause) {
      const hasRoom = isFull(cause) && options.onFull?.() === true
      rejectAll(hasRoom ? batch.filter(({ grows }) => grows) : batch, cause)
      if (hasRoom) waiting.unshift(...batch.filter(({ grows }) => !grows))
      const broken = batches.brokenBy()
      if (broken !== null) options.onFatal(broken.cause)
    }
  }

  function onFailed(cause: unknown): void {
    batches.distrust(cause)
    options.onFatal(cause)
  }

  /** Runs the steps that gathered. */
  function runWaiting(): void {
    if (waiting.length > 0) schedule()
    else becomeIdle()
  }

  function becomeIdle(): void {
    if (!isIdle()) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  function idle(): Promise<void> {
    return isIdle() ? Promise.resolve() : new Promise((resolve) => whenIdle.push(resolve))
  }

  function isIdle(): boolean {
    return waiting.length === 0 && !scheduled && syncs.since() === null
  }

  /**
   * Returns the milliseconds since the oldest waiting step arrived or the running sync began, whichever is
   * longer.
   */
  function longestWait(): number {
    const now = performance.now()
    return now - Math.min(syncs.since() ?? now, waiting[0]?.since ?? now)
  }

  function isOverloaded(): boolean {
    return pending > CROWD_STEPS && longestWait() > CROWD_MS
  }

  function commitOverdue(): void {
    options.noticeSync?.()
    // Steps that wait for another process's lock are tried again by a timer.
    const [first] = waiting
    if (first === undefined || isLocked) return
    if (performance.now() - first.since > MAX_BATCH_MS) runBatch()
  }

  function writeSomething(): Promise<void> {
    options.forceWrite?.()
    return transact(() => undefined)
  }

  return {
    transact,
    isOverloaded,
    commitOverdue,
    idle,
    durable: () => syncs.durable(false),
    waiting: () => pending,
    findWriteProblem: trial.findProblem,
  }
}

function rejectAll(batch: QueuedStep[], cause: unknown): void {
  for (const step of batch) step.settle({ cause: refusalOf(cause) })
}
