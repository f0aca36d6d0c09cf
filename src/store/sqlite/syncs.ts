// What waits until the disk has what was committed: each waits for a sync that began after its commit, and
// has returned.

/** Called when a sync has returned, with the reason when it failed. */
export type Synced = (failure: Failure | null) => void

export type Failure = { cause: unknown }

export type SyncsOptions = {
  /** Makes durable what was committed before the call. Without it, every commit is durable by itself. */
  sync: (() => Promise<void>) | undefined
  /** Called when a sync failed, after which nothing may be trusted, not even later commits. */
  onFailed: (cause: unknown) => void
  /** Called when a sync has returned and the commits that it covers are settled. */
  onReturned: () => void
}

export type Syncs = ReturnType<typeof createSyncs>

export function createSyncs({ sync, onFailed, onReturned }: SyncsOptions) {
  /** Groups that wait for one sync each, the first for the running one. */
  const groups: Synced[][] = []
  let since: number | null = null
  /** The failure of a sync, after which nothing is durable. */
  let failure: Failure | null = null

  /**
   * Calls `settle` once what was committed so far is durable; at once when it is. `hasWritten`: a commit has
   * just written.
   */
  function settle(settle: Synced, hasWritten: boolean): void {
    const last = groups.at(-1)
    if (sync === undefined || failure !== null || (!hasWritten && last === undefined)) settle(failure)
    // What only read waits too: it may have read what is not durable yet.
    else if (!hasWritten && last !== undefined) last.push(settle)
    else void waitFor(sync(), [settle])
  }

  async function waitFor(synced: Promise<void>, group: Synced[]): Promise<void> {
    groups.push(group)
    since ??= performance.now()
    const failed = await synced.then(noFailure, (cause: unknown) => ({ cause }))
    // Those before it are durable as well, and nothing is once a sync has failed.
    const settled = groups.splice(0, failed === null ? groups.indexOf(group) + 1 : groups.length)
    // A later group has already settled both by the sync that covers them.
    if (failed === null && settled.length === 0) return
    since = groups.length === 0 ? null : performance.now()
    if (failed !== null && failure === null) {
      failure = failed
      onFailed(failed.cause)
    }
    for (const settle of settled.flat()) settle(failure)
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
