// Watches a server for its operator: health checks for /readyz, /admin and the log, and gauges for the
// metrics.

import type { Backups } from '../backup/backups.ts'
import { createBackupGauges } from '../backup/backups.ts'
import type { Now } from '../domain/time.ts'
import { createAuditGauge } from '../operating/audit-trail.ts'
import { createServerChecks } from '../operating/checks.ts'
import { createGauges } from '../operating/gauges.ts'
import { createLookAtHealth, type LookAtHealth } from '../operating/health.ts'
import type { Logging } from '../operating/logging.ts'
import type { Metrics } from '../operating/metrics.ts'
import { nameDatabase } from '../settings/database.ts'
import type { Config } from '../settings/table.ts'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { Services } from './services.ts'
import type { Tls } from './tls.ts'

type HealthOptions = Pick<Logging, 'findLogProblem' | 'audit'> & {
  config: Config
  version: string
  store: OpenedStore
  services: Services
  /** The metrics; null without --metrics-listen. */
  metrics: Metrics | null
  tls: Tls | null
  backups: Backups | null
  /** The clock of this machine, which may differ from the database server's. */
  machineNow: Now
}

/** Returns a function that runs the health checks. Adds the gauges to the metrics. */
export function createHealth(options: HealthOptions): LookAtHealth {
  const { config, version, store, services, metrics, tls, backups, machineNow, findLogProblem, audit } =
    options
  const { limits, sharing, notices, upkeep } = services
  // Pushes use no disk of this machine if both their rows and their files are elsewhere.
  const needsDisk = store.database === null || store.bucket === null
  const lookAtHealth = createLookAtHealth(
    createServerChecks({
      ...{ ...config, store, systemNow: machineNow, findLogProblem },
      findAuditProblem: audit?.findProblem ?? null,
      certificate: tls?.certificate ?? null,
      databaseName: nameDatabase(config) ?? '',
      minFreeSpace: needsDisk ? config.minFreeSpace : null,
      readBackups: backups?.status ?? null,
      mail: notices.mail?.mailer ?? null,
      findMailShortage: limits.mails.findShortage,
      listFailingWebhooks: notices.webhooks.isOn ? store.health.listFailingWebhooks : null,
    }),
  )
  const countHashing = limits.hashing.count
  metrics?.addGauges(createGauges({ ...store, ...sharing, ...upkeep, countHashing, lookAtHealth, version }))
  if (audit !== null) metrics?.addGauges([createAuditGauge(audit)])
  if (backups !== null) metrics?.addGauges(createBackupGauges(backups.status))
  return lookAtHealth
}
