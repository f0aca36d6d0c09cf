// How long works wait for others before they are committed, so that one sync serves many.

import type { Syncs } from './syncs.ts'

/**
 * While a quick sync is under way, works wait until there are so many of them. They are then committed, and
 * the next sync is theirs.
 */
const GATHERED_WORKS = 32
/**
 * A sync that takes longer is slow. Works then wait until it has returned and those whom it answered have
 * come again.
 */
const SLOW_MS = 3
/** How long these may take to come: this part of a sync's time, and so many milliseconds at most. */
const RETURN_PART = 0.7
const RETURN_MS = 10

export type GatheringOptions = {
  /** So many works never wait. */
  most: number
  /** Called at the end of a wait that is not for a sync. */
  onEnd: () => void
}

export function createGathering({ since, usual }: Pick<Syncs, 'since' | 'usual'>, options: GatheringOptions) {
  /** The works that syncs have answered since the last commit, and when the last of them was. */
  let answered = { works: 0, at: 0 }
  let isTimed = false

  /** Milliseconds; Infinity: until the sync under way has returned. */
  function remaining(waiting: number): number {
    const isSlow = usual() > SLOW_MS
    if (since() !== null) return waiting >= (isSlow ? options.most : GATHERED_WORKS) ? 0 : Infinity
    if (!isSlow || waiting >= answered.works) return 0
    return Math.max(0, answered.at + Math.min(usual() * RETURN_PART, RETURN_MS) - performance.now())
  }

  /** Whether so many works should wait for others. */
  function holds(waiting: number): boolean {
    const rest = remaining(waiting)
    if (rest > 0 && rest < Infinity && !isTimed) {
      isTimed = true
      setTimeout(end, rest)
    }
    return rest > 0
  }

  function end(): void {
    isTimed = false
    options.onEnd()
  }

  return {
    holds,
    noteAnswered(works: number): void {
      answered = { works: answered.works + works, at: performance.now() }
    },
    noteCommitted(): void {
      answered.works = 0
    },
  }
}
