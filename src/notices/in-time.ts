// Bounds how long a delivery may take.

import type { DeliveryError } from '../domain/outbox.ts'

/**
 * What `work` resolves to, or `timed_out` after `within` milliseconds and when `stopped` is aborted. The
 * signal of the work is aborted then, so that it ends its connection.
 */
export function inTime(
  work: (ended: AbortSignal) => Promise<DeliveryError | null>,
  { within, stopped }: { within: number; stopped?: AbortSignal | undefined },
): Promise<DeliveryError | null> {
  const ending = new AbortController()
  const { promise: late, resolve } = Promise.withResolvers<DeliveryError>()
  const end = () => {
    resolve('timed_out')
    ending.abort()
  }
  const timer = setTimeout(end, within)
  if (stopped?.aborted) end()
  stopped?.addEventListener('abort', end)
  return Promise.race([late, work(ending.signal)]).finally(() => {
    clearTimeout(timer)
    stopped?.removeEventListener('abort', end)
  })
}
