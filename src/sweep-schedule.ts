// When the sweeper runs, and what is said of it.

import { DomainError } from './domain/errors.ts'
import type { Log } from './log.ts'
import type { Sweeper } from './services/sweeper.ts'

/** Sweeps at once and then every so often; a sweep that fails is told and tried again at its next time. */
export function scheduleSweeps({ sweeper, every, log }: { sweeper: Sweeper; every: number; log: Log }) {
  const run = async () => {
    try {
      const { expired, purged, files } = await sweeper.sweep()
      if (expired + purged + files > 0) log.info({ expired, purged, files }, 'swept')
    } catch (err) {
      log.error({ err: err instanceof DomainError ? { message: err.message } : err }, 'the sweep failed')
    }
  }
  const timer = setInterval(run, every)
  void run()
  return { stop: () => clearInterval(timer) }
}
