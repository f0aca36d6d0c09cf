// Aborts a transfer that has stalled or become too slow.

export type Watch = ReturnType<typeof createWatch>

const MIN_BYTES = 64 * 1024

/** Creates a watch that requires at least 64 KiB in each interval of `patienceMs`. */
export function createWatch(patienceMs: number) {
  const controller = new AbortController()
  let counted = 0
  const timer = setInterval(() => {
    if (counted < MIN_BYTES) controller.abort(new DOMException('too slow', 'TimeoutError'))
    counted = 0
  }, patienceMs)
  return {
    /** Aborts after an interval with too few bytes. */
    signal: controller.signal,
    count: (bytes: number): void => {
      counted += bytes
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
