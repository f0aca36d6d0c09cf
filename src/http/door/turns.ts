// Batches requests that arrive in one turn of the event loop: reads all, then continues them one after
// another, so that the code and data that they share stay in the processor's caches.

/**
 * The largest batch of page requests. In a larger one the first would wait too long; the rest continues in
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
