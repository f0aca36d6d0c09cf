// Reads parts of a running server again on SIGHUP, such as the log file and the certificate.

import { DomainError } from '../domain/errors.ts'
import type { Log } from './log.ts'

/** A part that can be read again. When `reload` throws, the part stays as it was. */
export type Reloadable = { name: string; reload(): Promise<void> | void }

export type Reload = () => Promise<void>

/** One reload at a time. A part that fails is logged and does not keep the others from reloading. */
export function createReload({
  reloadables,
  log,
}: {
  reloadables: readonly Reloadable[]
  log: Pick<Log, 'info' | 'error'>
}): Reload {
  let running = Promise.resolve()

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

  return () => {
    running = running.then(reloadAll)
    return running
  }
}
