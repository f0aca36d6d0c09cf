// When the sweeper runs, and what is said of it.

import { DomainError } from '../domain/errors.ts'
import type { Now } from '../domain/time.ts'
import type { Sweeper } from '../services/upkeep/sweeper.ts'
import type { Log } from './log.ts'

/**
 * A timer is never set further ahead: a clock that was set, a machine that was asleep, and a push that was made
 * meanwhile are all noticed within this time.
 */
const LOOK_AGAIN_MS = 1_000
const RETRY_MS = 5_000
/** Left to others between two runs, however much is due. */
const BREATH_MS = 10

export type ScheduleOptions = { sweeper: Sweeper; every: number; now: Now; log: Log }

/** Sweeps at once and then every so often, and ends pushes and files between when their time has come. */
export function scheduleSweeps({ sweeper, every, now, log }: ScheduleOptions) {
  const tell = (err: unknown, what: string) =>
    log.error({ err: err instanceof DomainError ? { message: err.message } : err }, what)
  const sweep = async () => {
    try {
      const { expired, purged, files } = await sweeper.sweep()
      if (expired + purged + files > 0) log.info({ expired, purged, files }, 'swept')
    } catch (err) {
      tell(err, 'the sweep failed')
    }
  }
  const sweeps = setInterval(sweep, every)
  void sweep()
  const expiry = startExpiry({ sweeper, now, onError: (err) => tell(err, 'expiry by time failed') })
  const stop = () => {
    clearInterval(sweeps)
    expiry.stop()
  }
  return { stop }
}

type ExpiryOptions = {
  sweeper: Pick<Sweeper, 'findNextDue' | 'expireDue'>
  now: Now
  onError: (cause: unknown) => void
}

/** Waits for the next moment at which something ends by time, and ends it then. */
export function startExpiry({ sweeper, now, onError }: ExpiryOptions): { stop(): void } {
  let isStopped = false
  let timer = setTimeout(run, 0)

  async function run(): Promise<void> {
    const wait = await expireAndLook()
    if (!isStopped) timer = setTimeout(run, wait)
  }

  /** Milliseconds until it has to look again. */
  async function expireAndLook(): Promise<number> {
    try {
      const due = remaining()
      if (due > 0) return Math.min(due, LOOK_AGAIN_MS)
      await sweeper.expireDue()
      return Math.min(Math.max(remaining(), BREATH_MS), LOOK_AGAIN_MS)
    } catch (cause) {
      onError(cause)
      return RETRY_MS
    }
  }

  function remaining(): number {
    const next = sweeper.findNextDue()
    return next === null ? LOOK_AGAIN_MS : next - now()
  }

  const stop = () => {
    isStopped = true
    clearTimeout(timer)
  }
  return { stop }
}
