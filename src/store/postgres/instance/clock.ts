// The clock of a node: an estimate of the database server's clock, which all nodes share. So the clocks of
// the nodes may differ.

import { type Clock, createClock, type Doubt } from '../../../domain/clock.ts'
import { HOUR, type Now, SECOND, type Uptime } from '../../../domain/time.ts'

/**
 * The database's clock and marks, in milliseconds since 1970. The clock mark is the latest time that any node
 * has recorded.
 */
export type DatabaseTime = { time: number; clockMark: number; clockDoubted: number | null }

export type DatabaseClock = Clock & {
  /** Takes a reading of the database's clock. Call it as soon as the reading has arrived. */
  observe(time: number): void
  /** Adopts what other nodes have stored: later marks, or that an administrator confirmed the clock. */
  learn(stored: Pick<DatabaseTime, 'clockMark' | 'clockDoubted'>): void
}

type DatabaseClockOptions = {
  /** Replaces the database's clock; null uses it. */
  systemNow: Now | null
  uptime: Uptime
  first: DatabaseTime
  /** Trusts the database's clock without a check. */
  accept: boolean
  maxGap: number
  onChange: (doubt: Doubt | null) => void
}

/** Throws `conflict` if the database's clock is more than a day behind the last time of use. */
export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { systemNow, uptime, first, accept, maxGap, onChange } = options
  const server = estimateClock(first.time, uptime)
  let mark = 0
  const estimate = systemNow ?? (() => Math.max(mark, server.now()))
  const clock = createClock({
    systemNow: estimate,
    uptime,
    stored: { mark: first.clockMark, doubted: first.clockDoubted },
    whose: 'the database server',
    ...{ accept, maxGap, onChange },
  })

  function learn({ clockMark, clockDoubted }: Pick<DatabaseTime, 'clockMark' | 'clockDoubted'>): void {
    const doubt = clock.doubt()
    if (doubt === null) mark = Math.max(mark, clockMark)
    else if (clockDoubted === null && clockMark >= doubt.said - HOUR) clock.accept()
  }

  return { ...clock, observe: server.observe, learn }
}

/**
 * Estimates the server's clock. A reading is late by its delay, so the latest of several estimates is the
 * most exact. The estimates of two nodes differ by their shortest delays, which is less than the time between
 * two requests of a client. Old readings are dropped, because clocks drift and are corrected.
 */
function estimateClock(first: number, uptime: Uptime) {
  let kept = { offset: first - uptime(), before: first - uptime(), since: uptime() }

  function observe(time: number): void {
    const up = uptime()
    const offset = time - up
    if (up - kept.since > WINDOW) kept = { offset, before: kept.offset, since: up }
    else if (offset > kept.offset) kept.offset = offset
  }

  return { now: () => Math.max(kept.offset, kept.before) + uptime(), observe }
}

const WINDOW = 30 * SECOND
