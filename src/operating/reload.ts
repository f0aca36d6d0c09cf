// Reloads parts of a running server on SIGHUP, such as the log file and the certificate.

import { DomainError } from '../domain/errors.ts'
import type { Log } from './log.ts'

/**
 * A part that can be reloaded. `reload` resolves to whether the part has changed; if it throws, the part must
 * be unchanged.
 */
export type Reloadable = { name: string; reload(): Promise<boolean> }

export type Reload = () => Promise<void>

/** Merges calls during a reload into one further reload. Logs a part that fails, and reloads the others. */
export function createReload(options: {
  reloadables: readonly Reloadable[]
  log: Pick<Log, 'info' | 'error'>
}): Reload {
  const { reloadables, log } = options
  async function reloadAll(): Promise<void> {
    const parts: string[] = []
    for (const { name, reload } of reloadables) if (await attempt(name, reload)) parts.push(name)
    log.info({ parts }, parts.length > 0 ? 'reloaded' : 'a reload changed nothing')
  }

  async function attempt(name: string, reload: Reloadable['reload']): Promise<boolean> {
    try {
      return await reload()
    } catch (cause) {
      if (cause instanceof DomainError) log.error({ part: name }, `not reloaded: ${cause.message}`)
      else log.error({ part: name, err: cause }, 'not reloaded')
      return false
    }
  }

  return joinCalls(reloadAll)
}

/**
 * Runs one task at a time. All calls during a run share one further run, because the current run may have
 * read the state too early for them.
 */
export function joinCalls<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | null = null

  function start(): Promise<T> {
    next = null
    const started = work()
    running = started
    return started
  }

  return () => {
    next ??= running.then(start, start)
    return next
  }
}
