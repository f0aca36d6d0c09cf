// Counts live pushes for metrics, in small steps between requests, because counting a million at once takes too long.

import type { PushListStore } from '../store/face.ts'

/** An older count is repeated when it is asked for. */
const FRESH_MS = 30_000

/** Returns the last count, and starts another one when it is old. Only the first call waits. */
export function createCountLive({
  countSomeLive,
}: Pick<PushListStore, 'countSomeLive'>): () => Promise<number> {
  let last: { live: number; at: number } | null = null
  let counting: Promise<number> | null = null

  async function count(): Promise<number> {
    let live = 0
    let place: Parameters<PushListStore['countSomeLive']>[0] = null
    do {
      const { counted, next } = await countSomeLive(place)
      live += counted
      place = next
      // Lets requests in between two steps.
      await new Promise((resolve) => setImmediate(resolve))
    } while (place !== null)
    last = { live, at: performance.now() }
    return live
  }

  return async () => {
    if (last !== null && performance.now() - last.at < FRESH_MS) return last.live
    counting = counting ?? count().finally(() => (counting = null))
    if (last === null) return counting
    // A lasting failure shows at the next count.
    counting.catch(() => undefined)
    return last.live
  }
}
