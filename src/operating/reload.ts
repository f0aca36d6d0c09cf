// Reads parts of a running server again on SIGHUP, such as the log file and the certificate.

import { DomainError } from '../domain/errors.ts'
import type { Log } from './log.ts'

/** A part that can be read again. When `reload` throws, the part stays as it was. */
export type Reloadable = { name: string; reload(): Promise<void> | void }

export type Reload = () => Promise<void>

/** Calls during a reload make one more, however many they are. A part that fails is logged and does not keep the others from reloading. */
export function createReload({
  reloadables,
  log,
}: {
  reloadables: readonly Reloadable[]
  log: Pick<Log, 'info' | 'error'>
}): Reload {
  async function reloadAll(): Promise<void> {
    for (const { name, reload } of reloadables) await attempt(name, reload)
    log.info({ parts: reloadables.map(({ name }) => name) }, 'reloaded')
  }

  async function attempt(name: string, reload: Reloadable['reload']): Promise<void> {
    try {
      await reload()
    } catch (cause) {
      if (cause instanceof DomainError) log.error({ part: name }, `not reloaded: ${cause.message}`)
      else log.error({ part: name, err: cause }, 'not reloaded')
    }
  }

  return joinCalls(reloadAll)
}

/**
 * One work at a time. All calls during a work get one further work after it, however many they are, because the work that runs
 * may have read already what changed before the call.
 */
export function joinCalls(work: () => Promise<void>): () => Promise<void> {
  let running = Promise.resolve()
  let next: Promise<void> | null = null

  function start(): Promise<void> {
    next = null
    running = work()
    return running
  }

  return () => {
    next ??= running.then(start, start)
    return next
  }
}
