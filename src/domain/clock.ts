// The clock of the app. It never runs backwards, and doubts the system's clock when that jumps ahead;
// otherwise a clock set 100 days ahead by mistake would destroy every push at once. While it doubts, pushes
// that would have expired answer as expired, but the sweeper, which alone destroys by time, does nothing.

import { conflict } from './errors.ts'
import { DAY, formatTime, HOUR, MINUTE, type Now, SECOND, type Uptime } from './time.ts'

/** A longer jump between two readings is checked against the machine's uptime. */
const STEP = 10 * SECOND

/** A doubt: the reading of the system's clock, and the latest one that was plausible. */
export type Doubt = { said: number; expected: number }

export type Clock = ReturnType<typeof createClock>

/** Returns the time; null while the clock is in doubt, when nothing may be destroyed by time. */
export type Trusted = () => number | null

/** The last stored reading, and the doubted reading at that time; `mark` is 0 in a new data folder. */
export type ClockMark = { mark: number; doubted: number | null }

type ClockOptions = {
  systemNow: Now
  uptime: Uptime
  stored: ClockMark
  /** Accepts any reading of the clock. */
  accept: boolean
  /** The machine whose clock it is, for messages. */
  whose?: string
  /** At a start, doubt the clock if the last use is longer ago than this, in milliseconds. */
  maxGap: number
  /** Called with the reason when doubt of the clock begins, and with null when it ends. */
  onChange: (doubt: Doubt | null) => void
}

/** Throws `conflict` when the system's clock is more than a day behind the last use. */
export function createClock(options: ClockOptions) {
  const { systemNow, uptime, accept, whose = 'this machine', onChange } = options
  const first = systemNow()
  const stored = accept ? { mark: Math.min(options.stored.mark, first), doubted: null } : options.stored
  const maxGap = accept ? Number.POSITIVE_INFINITY : options.maxGap
  if (stored.mark - first > DAY)
    throw conflict(
      `The clock of ${whose} says ${formatTime(first)}, but what is stored here was in use at ${formatTime(stored.mark)}. ` +
        'Set the clock right, or accept its time with --accept-clock.',
    )
  /** The last trusted reading. */
  let latest = stored.mark
  /** The latest reading that was doubted. */
  let doubted: number | null = isDoubtedAtStart(first, { stored, maxGap }) ? first : null
  /** A trusted reading, the uptime at that moment, and how far ahead of `expected` the clock may be. */
  let base =
    doubted === null
      ? { time: first, up: uptime(), slack: DAY }
      : { time: stored.mark, up: uptime(), slack: first - stored.mark > maxGap ? maxGap : DAY }
  let ahead = doubted === null && stored.doubted !== null ? stored.doubted - stored.mark : 0

  const reckoned = () => base.time + uptime() - base.up
  const expected = () => Math.max(latest, reckoned())

  /**
   * Returns the time, never less than an earlier reading, so that turning the clock back does not revive
   * expired pushes.
   */
  function now(): number {
    const time = systemNow()
    if (doubted !== null || time - latest > STEP) return judge(time)
    if (time > latest) latest = time
    return latest
  }

  function judge(time: number): number {
    if (time - reckoned() <= base.slack) {
      if (doubted !== null) trust(time)
      latest = Math.max(latest, time)
      return latest
    }
    const isNew = doubted === null
    doubted = Math.max(doubted ?? 0, time)
    if (isNew) onChange({ said: doubted, expected: expected() })
    return doubted
  }

  function trust(time: number): void {
    ahead = Math.max(0, (doubted ?? time) - time)
    doubted = null
    base = { time, up: uptime(), slack: DAY }
    latest = Math.max(latest, time)
    onChange(null)
  }

  /** Returns the time to decide what may be destroyed: that of `now`, or null while the clock is in doubt. */
  function trusted(): number | null {
    const time = now()
    return doubted === null ? time : null
  }

  /** Returns the present doubt; null when the clock is trusted. */
  function doubt(): Doubt | null {
    now()
    return doubted === null ? null : { said: doubted, expected: expected() }
  }

  return {
    ...{ now, trusted, doubt },
    /** Ends a doubt, because an administrator confirmed the clock. */
    accept: () => trust(systemNow()),
    /**
     * Returns how far ahead the clock was when its last doubt ended; 0 without a doubt, or if it was right.
     */
    wasAhead: () => ahead,
  }
}

/** Whether a start doubts the clock. An earlier doubt stays unless the clock was corrected meanwhile. */
function isDoubtedAtStart(
  first: number,
  { stored: { mark, doubted }, maxGap }: Pick<ClockOptions, 'stored' | 'maxGap'>,
): boolean {
  if (doubted !== null && first >= doubted - HOUR) return true
  return mark > 0 && first - mark > maxGap
}

/** Explains a doubt about the clock of `whose` machine to the operator, with the remedy. */
export function explainDoubt({ said, expected }: Doubt, whose = 'this machine'): string {
  return (
    `The clock of ${whose} says ${formatTime(said)}, and by its last use it should be about ${formatTime(expected)}. ` +
    'Pushes that have ended by this clock answer as expired, but nothing of them is destroyed. If the clock is right, confirm it ' +
    'in /admin or start with --accept-clock. If it is wrong, set it right: they can be opened again.'
  )
}

/**
 * Explains a clock that was turned back, with the remedy. `was` is the time of the app. Returns null while it
 * is behind by a minute at most.
 */
export function explainBehind({ said, was }: { said: number; was: number }): string | null {
  if (was - said <= MINUTE) return null
  return (
    `The clock of this machine says ${formatTime(said)} and was at ${formatTime(was)} before. ` +
    'No push expires by time until it is there again: set the clock right.'
  )
}
