// What waits until the disk has what was committed: each waits for a sync that began after its commit, and has returned.
//
// Only one sync is under way, because a second one would wait for the first.

/** Called when a sync has returned, with the reason when it failed. */
export type Synced = (failure: Failure | null) => void

export type Failure = { cause: unknown }

export type SyncsOptions = {
  /** Makes durable what was committed before the call. Without it, every commit is durable by itself. */
  sync: (() => Promise<void>) | undefined
  /** Nothing may be trusted after it, what was committed since included. */
  onFailed: (cause: unknown) => void
  /** A sync has returned, and those that it covers are settled. */
  onReturned: () => void
}

export function createSyncs({ sync, onFailed, onReturned }: SyncsOptions) {
  /** Committed since the sync under way began. */
  let next: Synced[] = []
  let covered: Synced[] = []
  let since: number | null = null
  /** Of the sync that failed: from then on nothing is durable. */
  let failure: Failure | null = null

  /** Calls `settle` once what was committed so far is durable; at once when it is. `hasWritten`: a commit has just written. */
  function settle(settle: Synced, hasWritten: boolean): void {
    if (sync === undefined || failure !== null || (!hasWritten && since === null)) {
      settle(failure)
      return
    }
    // What only read waits too: it may have read what is not durable yet.
    if (hasWritten || next.length > 0) next.push(settle)
    else covered.push(settle)
    if (since === null) void syncNext(sync)
  }

  async function syncNext(sync: () => Promise<void>): Promise<void> {
    covered = next
    next = []
    since = performance.now()
    failure = await sync().then(noFailure, (cause: unknown) => ({ cause }))
    since = null
    if (failure !== null) {
      onFailed(failure.cause)
      covered.push(...next.splice(0))
    }
    for (const settle of covered.splice(0)) settle(failure)
    if (next.length > 0) void syncNext(sync)
    onReturned()
  }

  function durable(hasWritten: boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    settle((failure) => (failure === null ? resolve() : reject(failure.cause)), hasWritten)
    return promise
  }

  return {
    settle,
    /** Resolves once everything that was committed so far is durable. */
    durable,
    /** When the sync under way began, by `performance.now()`; null while none is. */
    since: () => since,
  }
}

const noFailure = () => null
