// A deadline for a delivery.

import type { DeliveryError, DeliveryFailure } from '../domain/outbox.ts'

/**
 * Resolves to the result of `work`; to `timed_out` after `within` milliseconds or if `stopped` aborts. Then
 * also aborts the signal of `work`, so that it closes its connection.
 */
export function inTime<E extends DeliveryFailure>(
  work: (ended: AbortSignal) => Promise<E | null>,
  { within, stopped }: { within: number; stopped?: AbortSignal | undefined },
): Promise<E | DeliveryError | null> {
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
