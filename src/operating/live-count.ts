// The number of live pushes for metrics: counted in small steps behind the requests, since a million take too long at once.

import type { PushListStore } from '../store/face.ts'

/** A count that is older than this is made anew at the next question. */
const FRESH_MS = 30_000

/** Answers with the last count, and begins another when that is old. Only the first question waits. */
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
    // The next question meets the failure again, if it lasts.
    counting.catch(() => undefined)
    return last.live
  }
}
