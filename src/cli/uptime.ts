// How long the machine has been running, in whole milliseconds. Bun tells it in whole seconds, so the clock
// of the process, which stands still while the machine sleeps, tells what passes in between.

import { type Now, SECOND, type Uptime, wholeMilliseconds } from '../domain/time.ts'

/**
 * The seconds are rounded, and the two readings are taken one after the other: more than this is a machine
 * that slept.
 */
const TOLERANCE = 2 * SECOND

/**
 * `seconds`: since the machine was started, asleep too. `elapsed`: milliseconds since any moment, with their
 * fractions.
 */
export function createUptime({ seconds, elapsed }: { seconds: () => number; elapsed: Now }): Uptime {
  let startedAt = elapsed() - seconds() * SECOND
  return () => {
    const [up, reading] = [seconds() * SECOND, elapsed()]
    if (Math.abs(reading - startedAt - up) > TOLERANCE) startedAt = reading - up
    return wholeMilliseconds(reading - startedAt)
  }
}
