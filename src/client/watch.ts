// Aborts a transfer that has stopped or become too slow.

export type Watch = {
  /** Aborts after a span with too few bytes. */
  signal: AbortSignal
  count: (bytes: number) => void
  stop: () => void
}

const MIN_BYTES = 64 * 1024

/** Requires at least 64 KiB in each span of `patienceMs`. */
export function createWatch(patienceMs: number): Watch {
  const controller = new AbortController()
  let counted = 0
  const timer = setInterval(() => {
    if (counted < MIN_BYTES) controller.abort(new DOMException('too slow', 'TimeoutError'))
    counted = 0
  }, patienceMs)
  return {
    signal: controller.signal,
    count: (bytes) => {
      counted += bytes
    },
    stop: () => clearInterval(timer),
  }
}
