// Waits at the start for a server that is not there yet, so that node and database may be started in any order.

import type { DatabaseAddress } from '../../../domain/database-address.ts'
import { DomainError } from '../../../domain/errors.ts'
import { SECOND } from '../../../domain/time.ts'
import { type Connect, requireServer } from '../engine/session.ts'
import { explainUnreachable } from './unreachable.ts'

export type ReachOptions = {
  address: DatabaseAddress
  connect: Connect
  /** Milliseconds to go on trying. 0 tries once. */
  patience: number
  /** Told once, when there is something to wait for. */
  onWait: (why: string) => void
  /** Gives up at once. */
  abandoned?: AbortSignal | undefined
}

const PAUSE_MS = SECOND / 2

/**
 * Throws `conflict` with a sentence for the operator, at once for what waiting does not
 * mend, such as a wrong password.
 */
export async function reachServer(options: ReachOptions): Promise<void> {
  const { abandoned } = options
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new DomainError('conflict', 'Stopped before the database could be reached.'))
  if (abandoned?.aborted) stop()
  abandoned?.addEventListener('abort', stop, { once: true })
  await Promise.race([keepTrying(options), stopped]).finally(() =>
    abandoned?.removeEventListener('abort', stop),
  )
}

async function keepTrying(options: ReachOptions): Promise<void> {
  const until = performance.now() + options.patience
  for (let tries = 0; ; tries += 1) {
    const unreachable = await tryOnce(options)
    if (unreachable === null) return
    const { error, mayPass } = unreachable
    if (!mayPass || performance.now() >= until) throw error
    if (options.abandoned?.aborted) return
    if (tries === 0)
      options.onWait(
        `Waiting up to ${Math.round(options.patience / SECOND)} s for PostgreSQL. ${error.message}`,
      )
    await Bun.sleep(PAUSE_MS)
  }
}

async function tryOnce({ address, connect }: ReachOptions) {
  try {
    await requireServer(connect)
    return null
  } catch (cause) {
    const unreachable = explainUnreachable(address, cause)
    if (unreachable === null) throw cause
    return unreachable
  }
}
