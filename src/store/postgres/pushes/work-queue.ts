// Works that wait and go in batches, a few batches at a time. Works on the same thing never run in two batches at once, and so
// happen in the order in which they came.

import { overloaded } from '../../every-engine/refusals.ts'
import { createGathering } from './gathering.ts'
import { type BatchLimits, nextBatch, type Waiting } from './next-batch.ts'

/**
 * Milliseconds from the coming of a work within which it may begin anew. The last attempt may take another 5 s, and nobody
 * waits longer than 10 s for an answer.
 */
const PATIENCE_MS = 5_000
/** A batch has at least this long, so that the oldest of its works does not fail the others. */
const LEAST_MS = 250

export type WorkQueueOptions<Work extends Waiting> = BatchLimits & {
  /**
   * Settles every work of the batch, except those that it returns: these go first in a later batch. `within`: milliseconds
   * within which attempts may begin.
   */
  run: (batch: Work[], within: number) => Promise<Work[]>
  /** Batches under way at the same time. */
  mostAtOnce: number
  mostWaiting: number
}

export type WorkQueue<Work extends Waiting> = {
  /** Rejects the work with `overloaded` when too many wait, and later when it has waited for too long. */
  add(work: Work): void
  /** Works that wait or are under way. */
  count(): number
  /** Resolves when no work is left. */
  idle(): Promise<void>
}

export function createWorkQueue<Work extends Waiting>(options: WorkQueueOptions<Work>): WorkQueue<Work> {
  const { run, mostAtOnce, mostWaiting } = options
  let waiting: Work[] = []
  /** What batches under way are about. */
  const busy = new Set<string>()
  let batches = 0
  let running = 0
  let isScheduled = false
  let timer: Timer | undefined
  let whenIdle: (() => void)[] = []
  const gathering = createGathering()

  function add(work: Work): void {
    if (waiting.length >= mostWaiting) work.reject(overloaded())
    else {
      waiting.push(work)
      schedule()
    }
  }

  /** Begins a batch after this turn of the event loop, so that what comes in the same turn goes in it. */
  function schedule(): void {
    const [first] = waiting
    if (first === undefined || isScheduled || batches >= mostAtOnce) return
    const left = gathering.left(
      { waiting: waiting.length, since: first.since, isBusy: batches > 0 },
      performance.now(),
    )
    if (left > 0) timer ??= setTimeout(scheduleAnew, left)
    else {
      isScheduled = true
      setImmediate(start)
    }
  }

  function scheduleAnew(): void {
    clearTimeout(timer)
    timer = undefined
    schedule()
  }

  /** Rejects works that have waited for too long, because the database is slow or cannot be reached. */
  function start(): void {
    isScheduled = false
    const oldest = performance.now() - PATIENCE_MS
    const { batch, keys, rest, late } = nextBatch(waiting, { limits: options, busy, oldest })
    for (const work of late) work.reject(overloaded())
    waiting = rest
    if (batch.length > 0) begin(batch, keys)
    else becomeIdleIfEmpty()
  }

  function begin(batch: Work[], keys: ReadonlySet<string>): void {
    for (const key of keys) busy.add(key)
    batches += 1
    running += batch.length
    void settle(batch).then((again) => {
      for (const key of keys) busy.delete(key)
      gathering.ended(waiting.length + running, performance.now())
      batches -= 1
      running -= batch.length
      waiting.unshift(...again)
      if (waiting.length > 0) scheduleAnew()
      else becomeIdleIfEmpty()
    })
    if (waiting.length > 0) schedule()
  }

  async function settle(batch: Work[]): Promise<Work[]> {
    try {
      const since = Math.min(...batch.map((work) => work.since))
      return await run(batch, Math.max(LEAST_MS, since + PATIENCE_MS - performance.now()))
    } catch (cause) {
      for (const work of batch) work.reject(cause)
      return []
    }
  }

  function becomeIdleIfEmpty(): void {
    if (waiting.length + running > 0) return
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  return {
    add,
    count: () => waiting.length + running,
    idle: () =>
      waiting.length + running === 0
        ? Promise.resolve()
        : new Promise((resolve) => void whenIdle.push(resolve)),
  }
}
