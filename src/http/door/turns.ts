// Lets requests that arrived in one turn of the event loop go on in a row, after all of them were read. What
// they share is then found in the caches of the processor, out of which reading and writing a socket between
// two requests pushes it.

/** More requests would make the first of them wait for long. The others go on in the next turn. */
const MOST = 64

/**
 * Resolves when the requests that wait go on. Not for answers over 16 KiB: after the turn of its request, Bun
 * sends each header of such an answer by itself.
 */
export function createTurns(): () => Promise<void> {
  let waiting: (() => void)[] = []

  function goOn(): void {
    const first = waiting
    waiting = first.splice(MOST)
    if (waiting.length > 0) setImmediate(goOn)
    for (const resolve of first) resolve()
  }

  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(goOn)
    })
}
