// Waits until commits are on the disk: each waits for a sync that began after it and has returned.

/** Called when a sync has returned; with the reason if it failed. */
export type Synced = (failure: Failure | null) => void

export type Failure = { cause: unknown }

export type SyncsOptions = {
  /** Makes earlier commits durable. If absent, every commit is durable by itself. */
  sync: (() => Promise<void>) | undefined
  /** Called if a sync failed, after which nothing may be trusted, not even later commits. */
  onFailed: (cause: unknown) => void
  /** Called when a sync has returned and the commits that it covers are settled. */
  onReturned: () => void
}

export type Syncs = ReturnType<typeof createSyncs>

export function createSyncs({ sync, onFailed, onReturned }: SyncsOptions) {
  /** Groups of waiters, one for each sync; the first waits for the running sync. */
  const groups: Synced[][] = []
  let since: number | null = null
  /** The failure of a sync, after which nothing is durable. */
  let failure: Failure | null = null

  /**
   * Calls `settle` once all commits so far are durable, which may be at once. `hasWritten`: the caller has
   * just committed.
   */
  function settle(settle: Synced, hasWritten: boolean): void {
    const last = groups.at(-1)
    if (sync === undefined || failure !== null || (!hasWritten && last === undefined)) settle(failure)
    // Reads wait too: they may have read a commit that is not durable yet.
    else if (!hasWritten && last !== undefined) last.push(settle)
    else void waitFor(sync(), [settle])
  }

  async function waitFor(synced: Promise<void>, group: Synced[]): Promise<void> {
    groups.push(group)
    since ??= performance.now()
    const failed = await synced.then(noFailure, (cause: unknown) => ({ cause }))
    // A sync also covers the groups before this one. If it failed, nothing is durable.
    const settled = groups.splice(0, failed === null ? groups.indexOf(group) + 1 : groups.length)
    // A later group may have settled both groups, because its sync covers them.
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
    /** Returns when the running sync began, by `performance.now()`; null while none runs. */
    since: () => since,
  }
}

const noFailure = () => null
