// Metrics of a server, for --metrics-listen: what is read from its parts at each scrape, and the listener.

import { type Backups, createBackupGauges } from '../backup/backups.ts'
import { listenForMetrics, type MetricsListener } from '../http/metrics-listener.ts'
import { createGauges } from '../operating/gauges.ts'
import type { LookAtHealth } from '../operating/health.ts'
import type { Log } from '../operating/log.ts'
import type { Metrics } from '../operating/metrics.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { Services } from './services.ts'

/** Null without --metrics-listen. Then nothing is counted and the library is not loaded. */
export async function openMetrics({ metricsListen }: Pick<Config, 'metricsListen'>): Promise<Metrics | null> {
  if (metricsListen === null) return null
  const { createMetrics } = await import('../operating/metrics.ts')
  return createMetrics()
}

export type MeteringOptions = {
  metrics: Metrics
  store: OpenedStore
  services: Services
  /** Null without --backup-dir. */
  backups: Backups | null
  lookAtHealth: LookAtHealth
  version: string
}

/** Adds the values that are read from the parts of the server when the metrics are asked for. */
export function addServerGauges({ metrics, store, services, backups, ...parts }: MeteringOptions): void {
  const { jobs, sweeper, countPushes, countHashing, countUploads } = services
  const gauges = createGauges({
    ...parts,
    ...store,
    countLive: async () => (await countPushes()).live,
    sweptTotals: sweeper.totals,
    listJobs: jobs.list,
    countHashing,
    countUploads,
  })
  metrics.addGauges(gauges)
  if (backups !== null) metrics.addGauges(createBackupGauges(backups.status))
}

/** Null without metrics. */
export function serveMetrics(
  { metricsListen, baseUrl }: Pick<Config, 'metricsListen' | 'baseUrl'>,
  { metrics, log }: { metrics: Metrics | null; log: Log },
): MetricsListener | null {
  if (metrics === null || metricsListen === null) return null
  const listener = listenForMetrics({ place: metricsListen, baseUrl, ...metrics })
  log.info({ url: listener.url }, 'serving metrics')
  return listener
}
