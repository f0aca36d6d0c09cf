// A queue before slow work: so many at a time, so many waiting, the rest refused.

import { DomainError } from '../domain/errors.ts'

export type Lanes = <T>(work: () => Promise<T>) => Promise<T>

/** Refuses with `overloaded` when more than `maxWaiting` works would wait. */
export function createLanes(options: { lanes: number; maxWaiting: number }): Lanes {
  return createSharedLanes(options).first
}

/** Two kinds of works on the same lanes, each with a queue of its own: when both wait, they take turns. */
export function createSharedLanes({ lanes, maxWaiting }: { lanes: number; maxWaiting: number }) {
  const queues: [(() => void)[], (() => void)[]] = [[], []]
  let running = 0
  let turn = 0

  function enter(queue: (() => void)[]): Promise<void> | void {
    if (running < lanes) {
      running += 1
      return
    }
    if (queue.length >= maxWaiting) {
      throw new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
    }
    return new Promise<void>((resolve) => queue.push(resolve))
  }

  /** A lane that becomes free goes straight to the next in line. */
  function leave(): void {
    turn += 1
    const [other, own] = turn % 2 === 0 ? queues : queues.toReversed()
    const next = other?.shift() ?? own?.shift()
    if (next === undefined) running -= 1
    else next()
  }

  function lanesOf(queue: (() => void)[]): Lanes {
    return async (work) => {
      await enter(queue)
      try {
        return await work()
      } finally {
        leave()
      }
    }
  }

  return { first: lanesOf(queues[0]), second: lanesOf(queues[1]) }
}

/** Lanes by name: works of one name follow each other, those of different names do not wait. */
export function createNamedLanes({ maxWaiting }: { maxWaiting: number }) {
  const byName = new Map<string, { run: Lanes; users: number }>()

  return async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const entry = byName.get(name) ?? { run: createLanes({ lanes: 1, maxWaiting }), users: 0 }
    byName.set(name, entry)
    entry.users += 1
    try {
      return await entry.run(work)
    } finally {
      entry.users -= 1
      if (entry.users === 0) byName.delete(name)
    }
  }
}
