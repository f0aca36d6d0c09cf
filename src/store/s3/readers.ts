// Which files in the bucket are being read here. A store keeps nothing for readers, so that a file which is removed meanwhile stays
// until its last reader has closed it.

/** `onLastClosed` is called when nobody reads a removed file any more. */
export function createReaders(onLastClosed: (id: string) => void) {
  /** How many readers each open file has. */
  const counts = new Map<string, number>()
  const removed = new Set<string>()

  function opened(id: string): void {
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }

  function closed(id: string): void {
    const left = (counts.get(id) ?? 1) - 1
    if (left > 0) return void counts.set(id, left)
    counts.delete(id)
    if (removed.has(id)) onLastClosed(id)
  }

  /** Nobody opens the file any more. False while somebody reads it. */
  function remove(id: string): boolean {
    if (!counts.has(id)) return true
    removed.add(id)
    return false
  }

  return {
    opened,
    closed,
    remove,
    isRemoved: (id: string) => removed.has(id),
    /** The object is gone, so that its id need not be remembered. */
    forget: (id: string) => void removed.delete(id),
  }
}
