// Works on many items, a few at a time.

/**
 * Takes the items one by one as lanes become free, and no more after a failure, which is thrown once nothing
 * runs any more.
 */
export async function inLanes<T>(
  lanes: number,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = oneByOne(items)
  // A lane that fails ends the rest for all of them.
  const runLane = async () => {
    for await (const item of rest) await work(item)
  }
  const ended = await Promise.allSettled(Array.from({ length: lanes }, runLane))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

async function* oneByOne<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* items
}
