// How long works wait for others before they go in a batch. A statement and its commit take about as much processor time for one
// work as for 20. Waiting saves the more, the more nodes there are, because each then has fewer works for a batch.

/** This many works start a batch at once, even beside another one. */
const ENOUGH = 24
/** Below this many works, none waits: hardly any others would come. */
const LEAST_CROWD = 16
/** The part of the clients that were just answered which is expected to ask again at once. */
const PART_OF_CROWD = 0.75
/** Milliseconds after a batch in which the clients that were answered may come again. */
const GATHER_MS = 2
/** Milliseconds that a work waits for the end of a slow batch. */
const SLOW_MS = 50

type Gathered = {
  waiting: number
  /** When the first of them came. */
  since: number
  /** Whether another batch is under way. */
  isBusy: boolean
}

/** Times are milliseconds by `performance.now()`. */
export function createGathering() {
  let crowd = 0
  let endedAt = 0

  /** Call this when a batch ends. `count`: the works in it, in other batches, and waiting. */
  function ended(count: number, now: number): void {
    crowd = count
    endedAt = now
  }

  /** How many milliseconds to wait for more works; 0 or less when they should go. A work that comes alone never waits. */
  function left({ waiting, since, isBusy }: Gathered, now: number): number {
    if (crowd < LEAST_CROWD || waiting >= Math.min(ENOUGH, crowd * PART_OF_CROWD)) return 0
    return (isBusy ? since + SLOW_MS : endedAt + GATHER_MS) - now
  }

  return { ended, left }
}
