// A queue for slow tasks, bounded in concurrency, in length, and in tasks of one client. Refuses the rest.

import type { ClientOf } from '../domain/client.ts'
import { DomainError } from '../domain/errors.ts'

/**
 * Runs a task in turn. Throws `overloaded` if too many are waiting, in total or for the client of this
 * address.
 */
export type InLine = <T>(address: string, work: () => Promise<T>) => Promise<T>

/** The longest queue, in total and per client. Both limits are small, so that no task waits for long. */
const MAX_WAITING = 32
const MAX_OF_CLIENT = 12

export function createWaitingLine({ atOnce, clientOf }: { atOnce: number; clientOf: ClientOf }) {
  const waiting: { client: string | null; isHalf: boolean; enter: () => void }[] = []
  let running = 0

  function enter(address: string, isHalf: boolean): Promise<void> | void {
    if (running < atOnce) {
      running += 1
      return
    }
    const client = clientOf(address)
    const ofClient = waiting.filter((one) => one.client === client).length
    const isHalfFull = isHalf && waiting.filter((one) => one.isHalf).length >= MAX_WAITING / 2
    if (waiting.length >= MAX_WAITING || isHalfFull || ofClient >= MAX_OF_CLIENT)
      throw new DomainError('overloaded', 'The server is busy; try again in a moment.', { retryAfter: 2 })
    return new Promise((resolve) => {
      waiting.push({ client, isHalf, enter: resolve })
    })
  }

  /** A freed slot passes directly to the next waiter. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next.enter()
  }

  const lineOf =
    (isHalf: boolean): InLine =>
    async (address, work) => {
      await enter(address, isHalf)
      try {
        return await work()
      } finally {
        leave()
      }
    }

  /** `inHalf`: the same queue for tasks that may fill at most half of it. */
  return { inLine: lineOf(false), inHalf: lineOf(true), count: () => ({ waiting: waiting.length, running }) }
}

/**
 * Creates a function that queues tasks by name: tasks of one name run one after another, independently of
 * others.
 */
export function createNamedLines(clientOf: ClientOf) {
  const byName = new Map<string, { inLine: InLine; users: number }>()

  return async function inTurn<T>(
    name: string,
    address: string,
    work: (hasWaited: boolean) => Promise<T>,
  ): Promise<T> {
    const entry = byName.get(name) ?? { ...createWaitingLine({ atOnce: 1, clientOf }), users: 0 }
    byName.set(name, entry)
    const hasWaited = entry.users > 0
    entry.users += 1
    try {
      return await entry.inLine(address, () => work(hasWaited))
    } finally {
      entry.users -= 1
      if (entry.users === 0) byName.delete(name)
    }
  }
}
