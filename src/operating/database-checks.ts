// The checks of /readyz for rows that a database server keeps.

import { explainWaiting, judgeStandbys, UNSEEN_REMEDY } from '../domain/standbys.ts'
import { SECOND } from '../domain/time.ts'
import type { DatabaseLook, DatabaseReport } from '../store/database-face.ts'
import { FINE, type Finding, type HealthCheck } from './health.ts'

/** Nodes write a heartbeat every five seconds. */
const SILENT_MS = 20 * SECOND

/** `name`: server and database, without the login. */
export function createDatabaseChecks(report: DatabaseReport, name: string): HealthCheck[] {
  return [
    { name: 'database', look: () => lookAtDatabase(report, name) },
    { name: 'standbys', look: () => lookAtStandbys(report) },
    { name: 'pages', look: () => lookAtPages(report) },
  ]
}

async function lookAtDatabase(report: DatabaseReport, name: string): Promise<Finding> {
  const refusal = report.findRefusal()
  if (refusal !== null) return { todo: refusal, isBlocking: true }
  const found = await report.look()
  const place = `${name} (last used: ${report.server()})`
  if (found === null) {
    const why =
      report.explainLoss() ?? `${place} does not answer: see whether it runs, and can be reached from here.`
    return { todo: `${why} Requests that need it get 503 until then.`, isBlocking: true }
  }
  if (found.lack !== null)
    return { todo: `${found.lack} Requests that need them fail until then.`, isBlocking: true }
  const silence = report.sinceHeartbeat()
  if (silence < SILENT_MS) return report.isFull() ? { todo: FULL } : FINE
  return {
    todo:
      `${place} answers, but has written nothing for ${Math.round(silence / SECOND)} s: see its log, whether its disk is full, and ` +
      'whether a standby of synchronous_standby_names is missing (pg_stat_replication).',
    isBlocking: true,
  }
}

/** Never blocking: only new connections are refused. */
async function lookAtPages(report: DatabaseReport): Promise<Finding> {
  const found = await report.look()
  return found === null || found.fullPageWrites || report.tearsNoPages ? FINE : { todo: TORN_PAGES }
}

const TORN_PAGES =
  'PostgreSQL has full_page_writes = off: a power cut could damage its tables, and new connections are refused. Set ' +
  'full_page_writes = on or, if its storage never tears a page (ZFS, Aurora), add full_page_writes=off to --database-url.'

/** Not blocking: what needs no room goes on, and a balancer that asks for the health must not cut it off. */
const FULL =
  'The disk of the database server is full, so new pushes are refused (507): make room on it, or give it a larger one; remove ' +
  'nothing from pg_wal by hand.'

/** Never blocking: until a failover everything goes on, and a standby that is missing for a moment holds changes up only. The part `database` tells it when the database does not answer. */
async function lookAtStandbys(report: DatabaseReport): Promise<Finding> {
  const found = await report.look()
  if (found === null) return { todo: UNKNOWN }
  const state = judgeStandbys(found.standbys)
  if (state === 'asynchronous') return { todo: ASYNCHRONOUS }
  if (state === 'unseen' && !hasProof(report, found)) return { todo: UNSEEN }
  return { todo: explainWaiting(found.standbys) }
}

/** Whether a change was answered a moment ago that had waited for the standbys of now: the heartbeat of this node. */
export function hasProof(
  { sinceHeartbeat, heartbeatNames }: DatabaseReport,
  { standbys: { names } }: DatabaseLook,
): boolean {
  return names !== '' && heartbeatNames() === names && sinceHeartbeat() < SILENT_MS
}

const UNKNOWN = 'Not known, because the database does not answer.'

const UNSEEN =
  'Standbys of synchronous_standby_names are connected, but no change has been seen yet that they confirmed, and the user of ' +
  `--database-url may not look at them: ${UNSEEN_REMEDY}.`

const ASYNCHRONOUS =
  'The standbys of PostgreSQL are asynchronous. When one takes over, the last pushes may be missing, and what was read last ' +
  'may be given out a second time: set synchronous_standby_names.'
