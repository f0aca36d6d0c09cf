// Batches requests that arrived in one turn of the event loop: they continue in a row after all of them were
// read, so that what they share stays in the processor's caches.

/**
 * The largest batch of pages. In a larger one the first request would wait too long; the others continue in
 * the next turn.
 */
const MOST = 64

/**
 * Returns a function that resolves when its batch continues. Do not use it for answers over 16 KiB: Bun then
 * sends each header by itself. `most`: the largest batch.
 */
export function createTurns(most = MOST): () => Promise<void> {
  let waiting: (() => void)[] = []

  function goOn(): void {
    const first = waiting
    waiting = first.splice(most)
    if (waiting.length > 0) setImmediate(goOn)
    for (const resolve of first) resolve()
  }

  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(goOn)
    })
}
