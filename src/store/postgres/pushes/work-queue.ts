// Works that wait and go in batches, a few batches at a time. Works on the same thing never run in two batches at once, and so
// happen in the order in which they came.

import { DomainError } from '../../../domain/errors.ts'

/** `key` names what the work is about; null for a work that has nothing to do with the others. */
export type Waiting = { key: string | null; weight: number; reject: (cause: unknown) => void }

export type WorkQueueOptions<Work extends Waiting> = {
  /** Settles every work of the batch, except those that it returns: these go first in a later batch. */
  run: (batch: Work[]) => Promise<Work[]>
  mostInBatch: number
  /** Of the works of one batch in all; a single one may weigh more. */
  mostWeight: number
  /** Batches under way at the same time. */
  mostAtOnce: number
  mostWaiting: number
}

export type WorkQueue<Work extends Waiting> = {
  /** Rejects the work with `overloaded` when too many wait. */
  add(work: Work): void
  /** Works that wait or are under way. */
  count(): number
  /** Resolves when no work is left. */
  idle(): Promise<void>
}

export function createWorkQueue<Work extends Waiting>(options: WorkQueueOptions<Work>): WorkQueue<Work> {
  const { run, mostInBatch, mostWeight, mostAtOnce, mostWaiting } = options
  let waiting: Work[] = []
  const busy = new Set<string>()
  let batches = 0
  let running = 0
  let isScheduled = false
  let whenIdle: (() => void)[] = []

  function add(work: Work): void {
    if (waiting.length >= mostWaiting) work.reject(overloaded())
    else {
      waiting.push(work)
      schedule()
    }
  }

  /** Not at once: what comes in the same turn of the event loop goes in one batch. */
  function schedule(): void {
    if (isScheduled || batches >= mostAtOnce) return
    isScheduled = true
    setImmediate(start)
  }

  function start(): void {
    isScheduled = false
    const batch = takeBatch()
    if (batch.length === 0) return
    const keys = new Set(batch.flatMap(({ key }) => (key === null ? [] : [key])))
    for (const key of keys) busy.add(key)
    batches += 1
    running += batch.length
    void settle(batch).then((again) => {
      for (const key of keys) busy.delete(key)
      batches -= 1
      running -= batch.length
      waiting.unshift(...again)
      if (waiting.length > 0) schedule()
      else if (running === 0) becomeIdle()
    })
    if (waiting.length > 0) schedule()
  }

  function takeBatch(): Work[] {
    const batch: Work[] = []
    const rest: Work[] = []
    let weight = 0
    for (const work of waiting) {
      const hasRoom = batch.length < mostInBatch && (weight === 0 || weight + work.weight <= mostWeight)
      const goes = hasRoom && (work.key === null || !busy.has(work.key))
      if (goes) weight += work.weight
      ;(goes ? batch : rest).push(work)
    }
    waiting = rest
    return batch
  }

  async function settle(batch: Work[]): Promise<Work[]> {
    try {
      return await run(batch)
    } catch (cause) {
      for (const work of batch) work.reject(cause)
      return []
    }
  }

  function becomeIdle(): void {
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

export function overloaded(): DomainError {
  return new DomainError('overloaded', 'The server is busy; nothing was stored.', { retryAfter: 1 })
}
