// Lets a balancer turn to another server before this one stops: one that asks for the health is told, and
// connections that are kept end with their next answer.

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
/** For those who do not ask: the busy ones of their connections end meanwhile. */
const LEAST_MS = SECOND / 2
const MOST_MS = 5 * SECOND + MARGIN_MS

export function createDeparture({ elapsed, wait }: DepartureOptions) {
  let askedAt: number[] = []
  let isLeaving = false

  /** Call this for each question about the health. Returns whether the server is about to stop. */
  function asked(): boolean {
    askedAt = [...askedAt, elapsed()].slice(-REMEMBERED)
    return isLeaving
  }

  /** Resolves when whoever asks regularly has had time to ask once more; soon when nobody does. */
  async function leave(): Promise<void> {
    isLeaving = true
    await wait(pauseAfter(askedAt.filter((at) => elapsed() - at < RECENT_MS)))
  }

  return { asked, leave, isLeaving: () => isLeaving }
}

function pauseAfter(questions: readonly number[]): number {
  if (questions.length < 2) return LEAST_MS
  const gaps = questions.slice(1).map((at, n) => at - (questions[n] ?? at))
  return Math.min(MOST_MS, Math.max(...gaps) + MARGIN_MS)
}
