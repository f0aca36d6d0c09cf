// Works on many items, a few at a time.

/** `items` are taken one by one as lanes become free. Throws what failed first, once nothing runs any more. */
export async function inLanes<T>(
  lanes: number,
  items: AsyncGenerator<T> | IterableIterator<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  const runLane = async () => {
    for await (const item of items) {
      if (failures.length > 0) return
      await work(item)
    }
  }
  await Promise.all(
    Array.from({ length: lanes }, () => runLane().catch((cause) => void failures.push(cause))),
  )
  if (failures.length > 0) throw failures[0]
}
