// Reads parts of a running server again on SIGHUP, such as the log file and the certificate.

import { DomainError } from '../domain/errors.ts'
import type { Log } from './log.ts'

/**
 * A part that can be read again. `reload` resolves to whether the part is another now; when it throws, the
 * part stays as it was.
 */
export type Reloadable = { name: string; reload(): Promise<boolean> }

export type Reload = () => Promise<void>

/**
 * Calls during a reload make one more, however many they are. A part that fails is logged and does not keep
 * the others from reloading.
 */
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
 * One work at a time. All calls during a work get one further work after it, however many they are, because
 * the work that runs may have read already what changed before the call.
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
