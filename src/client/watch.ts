// Notices a transfer that has stopped, or goes on so slowly that it might as well have.

export type Watch = {
  /** Aborts when too little came for too long. */
  signal: AbortSignal
  count: (bytes: number) => void
  stop: () => void
}

const MIN_BYTES = 64 * 1024

/** In each span of `patienceMs` at least 64 KiB must be counted. */
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
