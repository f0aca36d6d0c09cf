// Graceful shutdown behind a load balancer: /readyz reports the stop, kept-alive connections end with their
// next answer, and the server waits until the balancer has asked once more.

import { SECOND } from '../domain/time.ts'

export type Departure = ReturnType<typeof createDeparture>

type DepartureOptions = {
  /** A monotonic clock in milliseconds. */
  elapsed: () => number
  wait: (ms: number) => Promise<void>
}

/** Only health requests within this time show that a load balancer is asking. */
const RECENT_MS = 10 * SECOND
const REMEMBERED = 4
/** Time for the balancer to act on the answer. */
const MARGIN_MS = SECOND / 2
/** The pause without a balancer, in which busy connections end. */
const LEAST_MS = SECOND / 2
const MOST_MS = 5 * SECOND + MARGIN_MS

export function createDeparture({ elapsed, wait }: DepartureOptions) {
  let askedAt: number[] = []
  let isLeaving = false

  /** Records a health request. Returns whether the server is about to stop. */
  function asked(): boolean {
    askedAt = [...askedAt, elapsed()].slice(-REMEMBERED)
    return isLeaving
  }

  /**
   * Resolves once a client that asks regularly has had time to ask again; almost at once if there is none.
   */
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
