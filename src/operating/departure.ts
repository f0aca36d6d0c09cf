// Lets a balancer that asks for the health of this server turn to another one before this one stops.

import { SECOND } from '../domain/time.ts'

export type Departure = ReturnType<typeof createDeparture>

export type DepartureOptions = {
  /** A clock in milliseconds that nobody sets. */
  elapsed: () => number
  wait: (ms: number) => Promise<void>
}

/** Questions longer ago than this tell nothing of a balancer. */
const RECENT_MS = 10 * SECOND
const REMEMBERED = 4
/** For the balancer to act on the answer. */
const MARGIN_MS = SECOND / 2
const MOST_MS = 5 * SECOND + MARGIN_MS

export function createDeparture({ elapsed, wait }: DepartureOptions) {
  let askedAt: number[] = []
  let isLeaving = false

  /** Call this for each question about the health. Returns whether the server is about to stop. */
  function asked(): boolean {
    askedAt = [...askedAt, elapsed()].slice(-REMEMBERED)
    return isLeaving
  }

  /** Resolves when whoever asks regularly has had time to ask once more; at once when nobody does. */
  async function leave(): Promise<void> {
    isLeaving = true
    const pause = pauseAfter(askedAt.filter((at) => elapsed() - at < RECENT_MS))
    if (pause > 0) await wait(pause)
  }

  return { asked, leave }
}

function pauseAfter(questions: readonly number[]): number {
  if (questions.length < 2) return 0
  const gaps = questions.slice(1).map((at, n) => at - (questions[n] ?? at))
  return Math.min(MOST_MS, Math.max(...gaps) + MARGIN_MS)
}
