// A queue before slow work: so many at a time, so many waiting, the rest refused.

import { DomainError } from '../domain/errors.ts'

export type Lanes = <T>(work: () => Promise<T>) => Promise<T>

/** Refuses with `overloaded` when more than `maxWaiting` works would wait. */
export function createLanes({ lanes, maxWaiting }: { lanes: number; maxWaiting: number }): Lanes {
  const waiting: (() => void)[] = []
  let running = 0

  async function enter(): Promise<void> {
    if (running < lanes) {
      running += 1
      return
    }
    if (waiting.length >= maxWaiting) {
      throw new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** A lane that becomes free goes straight to the next in line. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
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
