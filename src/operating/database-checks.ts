// The check of /readyz for rows that a database server keeps.

import { SECOND } from '../domain/time.ts'
import type { DatabaseReport } from '../store/database-face.ts'
import { FINE, type Finding, type HealthCheck } from './health.ts'

/** Nodes write a heartbeat every five seconds. */
const SILENT_MS = 20 * SECOND

/** `name`: server and database, without the login. */
export function createDatabaseCheck(report: DatabaseReport, name: string): HealthCheck {
  return { name: 'database', look: () => lookAtDatabase(report, name) }
}

async function lookAtDatabase(report: DatabaseReport, name: string): Promise<Finding> {
  const refusal = report.findRefusal()
  if (refusal !== null) return { todo: refusal, isBlocking: true }
  if ((await report.look()) === null) {
    const why =
      report.explainLoss() ?? `${name} does not answer: see whether it runs, and can be reached from here.`
    return { todo: `${why} Requests that need it get 503 until then.`, isBlocking: true }
  }
  const silence = report.sinceHeartbeat()
  if (silence < SILENT_MS) return report.isFull() ? { todo: FULL } : FINE
  return {
    todo:
      `${name} answers, but has written nothing for ${Math.round(silence / SECOND)} s: see its log, whether its disk is full, and ` +
      'whether a standby of synchronous_standby_names is missing (pg_stat_replication).',
    isBlocking: true,
  }
}

/** Not blocking: what needs no room goes on, and a balancer that asks for the health must not cut it off. */
const FULL =
  'The disk of the database server is full, so new pushes are refused (507): make room on it, or give it a larger one; remove ' +
  'nothing from pg_wal by hand.'
