// The sweeper: expires pushes past their time and purges long-expired ones, in small steps between requests.

import type { Trusted } from '../domain/clock.ts'
import { DAY } from '../domain/time.ts'
import type { SharedState, Store } from '../store/contract.ts'

/** How long an ended anonymous push answers as expired before it is purged. */
const ANONYMOUS_PURGE_AFTER = DAY

export type Sweeper = ReturnType<typeof createSweeper>

export type SweeperOptions = {
  expiry: Pick<Store['expiry'], 'expireLapsed' | 'findNextLapse' | 'purgeExpired'>
  files: Pick<Store['files'], 'removeDue' | 'findNextDue'>
  idempotencyKeys: Pick<Store['idempotencyKeys'], 'removeLapsed'>
  shared: Pick<SharedState, 'removeLapsed'>
  requests: Pick<Store['requests'], 'purge'>
  events: Pick<Store['events'], 'tellExpiring' | 'tellPausing' | 'removeOld'>
  /** Returns null while the clock is in doubt: then nothing is swept. */
  trusted: Trusted
  /** How long an expired push with an owner, or a closed request, is kept, in milliseconds. */
  purgeAfter: number
  /** How long the API tokens of an account without a password work without a sign-in; 0 for ever. */
  pauseTokensAfter: number
}

/** The end of the last sweep, and its counts. */
export type LastSweep = SweepCounts & { at: number }

/** The counts of a sweep, including what other jobs and requests did since the previous one. */
export type SweepCounts = { expired: number; purged: number; files: number }

const NOTHING: SweepCounts = { expired: 0, purged: 0, files: 0 }

export function createSweeper(options: SweeperOptions) {
  const { expiry, files, idempotencyKeys, shared, requests, events, trusted, purgeAfter, pauseTokensAfter } =
    options
  let running: Promise<SweepCounts> | null = null
  let expiring: Promise<void> | null = null
  let stopped = false
  let last: LastSweep | null = null
  const totals = { ...NOTHING }
  let sinceLast = { ...NOTHING }

  /** Sweeps. A call during a sweep joins it. */
  function sweep(): Promise<SweepCounts> {
    running = running ?? collect().finally(() => (running = null))
    return running
  }

  /** A part that fails does not stop the others. */
  async function collect(): Promise<SweepCounts> {
    const time = trusted()
    if (time === null) return NOTHING
    const failures: unknown[] = []
    const attempt = (part: Promise<unknown>) => part.catch((cause) => void failures.push(cause))
    const purge = (of: 'anonymous' | 'owned', age: number) => {
      const step = () => expiry.purgeExpired({ of, until: time - age })
      return attempt(count('purged', repeat(step)))
    }
    await attempt(count('expired', repeat(expiry.expireLapsed)))
    await purge('anonymous', ANONYMOUS_PURGE_AFTER)
    await purge('owned', purgeAfter)
    await attempt(repeat(() => requests.purge(time - purgeAfter)))
    for (const { removeLapsed } of [idempotencyKeys, shared]) await attempt(repeat(removeLapsed))
    const tellPausing = () => events.tellPausing(pauseTokensAfter)
    for (const step of [events.tellExpiring, tellPausing, events.removeOld]) await attempt(repeat(step))
    await attempt(count('files', files.removeDue()))
    const swept = sinceLast
    sinceLast = { ...NOTHING }
    last = { at: trusted() ?? time, ...swept }
    if (failures.length > 0) throw joined(failures)
    return swept
  }

  async function count(what: keyof SweepCounts, work: Promise<number>): Promise<void> {
    const done = await work
    totals[what] += done
    sinceLast[what] += done
  }

  /**
   * Resolves to the time at which the next push or file is due, which may be past; null if there is none or
   * the clock is in doubt.
   */
  async function findNextDue(): Promise<number | null> {
    if (trusted() === null) return null
    const times = [await expiry.findNextLapse(), await files.findNextDue()].filter((time) => time !== null)
    return times.length === 0 ? null : Math.min(...times)
  }

  /** Expires all pushes that are due, without waiting for a sweep. A call during a run joins it. */
  function expireDue(): Promise<void> {
    expiring = expiring ?? expire().finally(() => (expiring = null))
    return expiring
  }

  async function expire(): Promise<void> {
    try {
      await count('expired', repeat(expiry.expireLapsed))
    } finally {
      await count('files', files.removeDue())
    }
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

  /** Lets running sweeps finish their current step, then ends them. */
  async function stop(): Promise<void> {
    stopped = true
    await Promise.allSettled([running, expiring])
  }

  return {
    sweep,
    findNextDue,
    expireDue,
    stop,
    last: (): LastSweep | null => last,
    /** Returns the counts since the start. */
    totals: (): SweepCounts => ({ ...totals }),
  }
}

/** Returns the first failure if all are the same, as when the database does not answer. */
function joined(failures: readonly unknown[]): unknown {
  const texts = new Set(failures.map(String))
  return texts.size === 1 ? failures[0] : new AggregateError(failures, [...texts].join('; '))
}
