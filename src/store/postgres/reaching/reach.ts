// Waits at a start for a database server that is not up yet, so that node and server may be started in any
// order.

import type { DatabaseAddress } from '../../../domain/database-address.ts'
import { conflict } from '../../../domain/errors.ts'
import { SECOND } from '../../../domain/time.ts'
import { type Connect, requireServer } from '../engine/session.ts'
import { explainUnreachable } from './unreachable.ts'

type ReachOptions = {
  address: DatabaseAddress
  connect: Connect
  /** Milliseconds to keep trying. If absent, there is one try. */
  patience?: number
  /** Called once with the reason, when the wait begins. */
  onWait?: (why: string) => void
  /** Ends the wait before the next try. */
  abandoned?: AbortSignal | undefined
}

const PAUSE_MS = SECOND / 2

/**
 * Waits for the server. Throws `conflict` with a sentence for the operator; at once if the failure is
 * permanent, such as a wrong password.
 */
export async function reachServer(options: ReachOptions): Promise<void> {
  const { address, connect, patience = 0, onWait, abandoned } = options
  const until = performance.now() + patience
  for (let tries = 0; ; tries += 1) {
    const cause = await requireServer(connect).then(
      () => null,
      (failure: unknown) => failure,
    )
    if (cause === null) return
    if (abandoned?.aborted) throw conflict('Stopped before the database could be reached.')
    const unreachable = explainUnreachable(address, cause)
    if (!unreachable?.mayPass || performance.now() >= until) throw unreachable?.error ?? cause
    if (tries === 0)
      onWait?.(
        `Waiting up to ${Math.round(patience / SECOND)} s for PostgreSQL. ${unreachable.error.message}`,
      )
    await Bun.sleep(PAUSE_MS)
  }
}
