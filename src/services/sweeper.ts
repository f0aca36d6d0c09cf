// The sweeper: writes down expiry by time and purges what expired long ago, in small steps beside the requests.

import { DAY, type Now } from '../domain/time.ts'
import type { Store } from '../store/store.ts'

export const ANONYMOUS_PURGE_AFTER = DAY

export type Sweeper = ReturnType<typeof createSweeper>

export type SweeperOptions = {
  expiry: Store['expiry']
  files: Pick<Store['files'], 'removeDue'>
  now: Now
  /** Milliseconds that an owner's expired push is kept. */
  purgeAfter: number
}

/** When the last run ended, and what it did. */
export type LastSweep = Swept & { at: number }

export type Swept = { expired: number; purged: number; files: number }

export function createSweeper({ expiry, files: { removeDue }, now, purgeAfter }: SweeperOptions) {
  let running: Promise<Swept> | null = null
  let stopped = false
  let last: LastSweep | null = null

  /** One run at a time; a second call joins the one under way. */
  function sweep(): Promise<Swept> {
    running = running ?? collect().finally(() => (running = null))
    return running
  }

  /** One part that fails keeps none of the others from being done. */
  async function collect(): Promise<Swept> {
    const anonymousUntil = now() - ANONYMOUS_PURGE_AFTER
    const expired = repeat(expiry.expireLapsed)
    const anonymous = after(expired, () =>
      repeat(() => expiry.purgeExpired({ of: 'anonymous', until: anonymousUntil })),
    )
    const owned = after(anonymous, () =>
      repeat(() => expiry.purgeExpired({ of: 'owned', until: now() - purgeAfter })),
    )
    const removed = after(owned, removeDue)
    const parts = await Promise.allSettled([expired, anonymous, owned, removed])
    const [expiredNow = 0, anonymousNow = 0, ownedNow = 0, files = 0] = parts.map((part) =>
      part.status === 'fulfilled' ? part.value : 0,
    )
    const swept = { expired: expiredNow, purged: anonymousNow + ownedNow, files }
    last = { at: now(), ...swept }
    const failures = parts.flatMap((part) => (part.status === 'rejected' ? [part.reason] : []))
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '))
    if (failures.length === 1) throw failures[0]
    return swept
  }

  function after<T>(earlier: Promise<unknown>, part: () => Promise<T>): Promise<T> {
    return earlier.then(part, part)
  }

  async function repeat(step: () => Promise<number>): Promise<number> {
    let total = 0
    while (!stopped) {
      const done = await step()
      total += done
      if (done === 0) break
    }
    return total
  }

  /** Ends the run under way after its present step. */
  async function stop(): Promise<void> {
    stopped = true
    await running
  }

  return { sweep, stop, last: (): LastSweep | null => last }
}
