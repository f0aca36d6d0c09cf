// Notices that a push is deleted while its files are read. All readers of a push share their looks at the database, so that
// a large download costs a few of them, however many segments it has.

import type { StoredPush } from '../store/face.ts'

export type DeletionWatchOptions = {
  /** Throws once the push with this lookup, in hex, was deleted. */
  find: (lookup: string) => Promise<StoredPush>
  /** Milliseconds of a clock that only goes on. */
  elapsed: () => number
  /** Milliseconds between two looks: about so long after a deletion a running download stops. With 0 it stops at once. */
  lookEvery: number
}

/** For one reader of a push, until `end`. */
export type Following = {
  /** Reads the push now. */
  lookNow(): Promise<StoredPush>
  /** Reads the push unless a reader of it has just done so. Throws once it was deleted. */
  look(): Promise<StoredPush>
  end(): void
}

type Watched = { readers: number; lookedAt: number; looking: Promise<StoredPush> | null }

export function createDeletionWatch({ find, elapsed, lookEvery }: DeletionWatchOptions) {
  const watched = new Map<string, Watched>()

  function follow(lookup: string): Following {
    const push: Watched = watched.get(lookup) ?? { readers: 0, lookedAt: 0, looking: null }
    watched.set(lookup, push)
    push.readers += 1
    let isEnded = false

    function lookNow(): Promise<StoredPush> {
      push.lookedAt = elapsed()
      push.looking = find(lookup)
      return push.looking
    }

    function look(): Promise<StoredPush> {
      const isFresh = elapsed() - push.lookedAt < lookEvery
      return push.looking !== null && isFresh ? push.looking : lookNow()
    }

    function end(): void {
      if (isEnded) return
      isEnded = true
      push.readers -= 1
      if (push.readers === 0) watched.delete(lookup)
    }

    return { lookNow, look, end }
  }

  return { follow, count: () => watched.size }
}
