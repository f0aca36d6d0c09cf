// The sweeper: writes down expiry by time and purges what expired long ago, in small steps beside the requests.

import { DAY, type Now } from '../domain/time.ts'
import type { Store } from '../store/store.ts'

export const ANONYMOUS_PURGE_AFTER = DAY

export type Sweeper = ReturnType<typeof createSweeper>

export type SweeperOptions = {
  expiry: Store['expiry']
  files: Pick<Store['files'], 'removeDue'>
  idempotencyKeys: Pick<Store['idempotencyKeys'], 'removeLapsed'>
  now: Now
  /** Milliseconds that an owner's expired push is kept. */
  purgeAfter: number
}

/** When the last run ended, and what it did. */
export type LastSweep = Swept & { at: number }

export type Swept = { expired: number; purged: number; files: number }

export function createSweeper({ expiry, files, idempotencyKeys, now, purgeAfter }: SweeperOptions) {
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
    const failures: unknown[] = []
    const attempt = (part: () => Promise<number>): Promise<number> =>
      part().catch((cause) => {
        failures.push(cause)
        return 0
      })
    const purge = (of: 'anonymous' | 'owned', age: number) =>
      attempt(() => repeat(() => expiry.purgeExpired({ of, until: now() - age })))
    const expired = await attempt(() => repeat(expiry.expireLapsed))
    const anonymous = await purge('anonymous', ANONYMOUS_PURGE_AFTER)
    const owned = await purge('owned', purgeAfter)
    await attempt(() => repeat(idempotencyKeys.removeLapsed))
    const swept = { expired, purged: anonymous + owned, files: await attempt(files.removeDue) }
    last = { at: now(), ...swept }
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '))
    if (failures.length === 1) throw failures[0]
    return swept
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
