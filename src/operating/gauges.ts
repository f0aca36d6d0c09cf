// The gauges that metrics read from a running server at each scrape.

import type { PushCounts } from '../domain/listing.ts'
import type { Sweeper } from '../pushes/sweeper.ts'
import type { Uploads } from '../pushes/uploads.ts'
import type { DamageReports, Store } from '../store/contract.ts'
import type { DatabaseReport } from '../store/database-contract.ts'
import type { BucketReport, FreeSpace } from '../store/files-contract.ts'
import type { LookAtHealth } from './health.ts'
import type { JobStatus, Jobs } from './jobs.ts'
import type { Gauged } from './metrics.ts'

type GaugesOptions = {
  version: string
  countPushes: () => Promise<PushCounts>
  sweeper: Pick<Sweeper, 'totals'>
  jobs: Pick<Jobs, 'list'>
  /** Changes that wait for a group commit. */
  waitingChanges: () => number
  /** Passphrases and passwords that wait to be hashed, and those being hashed. */
  countHashing: () => { waiting: number; running: number }
  uploads: Pick<Uploads, 'countRunning'>
  freeSpace: FreeSpace
  bucket: BucketReport | null
  /** The database server; null when rows are in the data folder. */
  database: DatabaseReport | null
  damage: DamageReports
  health: Pick<Store['health'], 'countMessages'>
  lookAtHealth: LookAtHealth
}

export function createGauges(options: GaugesOptions): Gauged[] {
  const { version, sweeper, freeSpace, bucket, database, damage, lookAtHealth } = options
  const timesOf = (name: 'lastDidAt' | 'lastFailedAt') => () => secondsByJob(options.jobs.list(), name)
  const readParts = async () =>
    Object.fromEntries(
      (await lookAtHealth()).findings.map(({ part, state }) => [part, Number(state === 'ok')]),
    )
  const messages = (state: 'waiting' | 'failed') => async () => {
    const counts = Object.entries(await options.health.countMessages())
    return Object.fromEntries(counts.map(([kind, count]) => [kind, count[state]]))
  }
  const inodes = async () => {
    const { inodes: left } = await freeSpace.measure()
    return left === null ? {} : { data: left.free }
  }
  return [
    gauge('oncebox_pushes_live', async () => (await options.countPushes()).live),
    gauge('oncebox_swept_total', () => ({ ...sweeper.totals() }), 'what'),
    gauge('oncebox_commit_queue', options.waitingChanges),
    gauge('oncebox_hash_queue', options.countHashing, 'of'),
    gauge('oncebox_uploads_running', options.uploads.countRunning),
    gauge('oncebox_disk_free_bytes', async () => (await freeSpace.measure()).free),
    gauge('oncebox_disk_bytes', async () => (await freeSpace.measure()).total),
    gauge('oncebox_disk_free_inodes', inodes, 'disk'),
    gauge('oncebox_damaged_places', damage.count),
    gauge('oncebox_messages_waiting', messages('waiting'), 'kind'),
    gauge('oncebox_messages_failed', messages('failed'), 'kind'),
    ...(bucket === null ? [] : createBucketGauges(bucket)),
    ...(database === null ? [] : createDatabaseGauges(database)),
    gauge('oncebox_job_last_run_timestamp_seconds', timesOf('lastDidAt'), 'job'),
    gauge('oncebox_job_last_failure_timestamp_seconds', timesOf('lastFailedAt'), 'job'),
    gauge('oncebox_healthy', readParts, 'part'),
    gauge('oncebox_ready', async () => Number((await lookAtHealth()).isReady)),
    gauge('process_resident_memory_bytes', () => process.memoryUsage().rss),
    gauge('process_heap_bytes', () => process.memoryUsage().heapUsed),
    gauge('process_cpu_seconds_total', readProcessorTime),
    gauge('process_start_time_seconds', () => performance.timeOrigin / 1000),
    gauge('oncebox_event_loop_lag_seconds', measureLag),
    gauge('oncebox_build_info', () => ({ [version]: 1 }), 'version'),
  ]
}

/** Returns the gauges of the bucket. `oncebox_healthy{part="files"}` says whether it works. */
function createBucketGauges({ countRequests, isFull }: BucketReport): Gauged[] {
  return [
    gauge('oncebox_bucket_requests_total', () => ({ ...countRequests() }), 'outcome'),
    gauge('oncebox_bucket_full', () => Number(isFull())),
  ]
}

export function createDatabaseGauges(database: DatabaseReport): Gauged[] {
  const { count, look, listNodes, sinceHeartbeat, isFull } = database
  const readConnections = () => {
    const { inUse, idle, most } = count().connections
    return { in_use: inUse, idle, most }
  }
  const ask = async () => {
    const found = await look()
    return found === null ? null : found.roundTrip / 1000
  }
  return [
    gauge('oncebox_database_connections', readConnections, 'state'),
    gauge('oncebox_database_waiting', () => count().connections.waiting),
    gauge('oncebox_database_round_trip_seconds', ask),
    gauge('oncebox_database_heartbeat_age_seconds', () => sinceHeartbeat() / 1000),
    gauge('oncebox_database_full', () => Number(isFull())),
    gauge('oncebox_nodes', async () => (await listNodes()).filter(({ isAlive }) => isAlive).length),
    gauge('oncebox_database_reads_total', () => count().reads),
    gauge('oncebox_database_transactions_total', () => count().transactions),
    gauge('oncebox_database_failures_total', () => count().failures),
    gauge('oncebox_database_retries_total', () => count().retries),
    gauge('oncebox_database_seconds_total', () => count().seconds),
    gauge('oncebox_database_unknown_outcomes_total', () => count().unknownOutcomes),
  ]
}

const gauge = (name: keyof typeof HELP, read: Gauged['read'], label?: string): Gauged => ({
  ...{ name, help: HELP[name], read, label },
})

const HELP = {
  oncebox_pushes_live: 'Pushes that can be opened, counted at most once a minute.',
  oncebox_swept_total: 'What the sweeper did: pushes expired by time, pushes purged, files removed.',
  oncebox_commit_queue: 'Changes that wait for a group commit.',
  oncebox_hash_queue: 'Passwords and passphrases that wait to be hashed, and those that are being hashed.',
  oncebox_uploads_running: 'Files that are being received.',
  oncebox_disk_free_bytes: 'Free on the disk of the data folder.',
  oncebox_disk_bytes: 'Size of the disk of the data folder.',
  oncebox_disk_free_inodes:
    'Files that the disk of the data folder still has room for; none where it does not count them.',
  oncebox_damaged_places: 'Places found damaged since the start.',
  oncebox_messages_waiting: 'Messages to webhooks and mailboxes that wait to be delivered.',
  oncebox_messages_failed: 'Those of the last seven days that were given up after a day.',
  oncebox_bucket_requests_total:
    'Requests to the bucket of the files: answered, tried again, for what is not there, failed.',
  oncebox_bucket_full: '1 when the bucket refused the last file for want of room.',
  oncebox_database_connections:
    'Connections of this node to the database: in use, idle, and the most that it may open.',
  oncebox_database_waiting: 'Reads and transactions that wait for a connection to the database.',
  oncebox_database_round_trip_seconds:
    'Time of one small question to the database, asked now; none when it does not answer.',
  oncebox_database_heartbeat_age_seconds:
    'Time since this node last wrote to the database that it is alive, which it does every five seconds.',
  oncebox_database_full:
    '1 when the database refused changes in the last five minutes because its disk is full.',
  oncebox_nodes: 'Nodes that serve the database.',
  oncebox_database_reads_total: 'Reads that the database answered.',
  oncebox_database_transactions_total: 'Transactions that are durable.',
  oncebox_database_failures_total: 'Reads and transactions that failed after all tries.',
  oncebox_database_retries_total:
    'Tries after the first one: conflicts, lost connections, a server that does not answer.',
  oncebox_database_seconds_total:
    'Time that reads and transactions took in all, from asking for a connection to the answer.',
  oncebox_database_unknown_outcomes_total: 'Transactions whose connection was lost in their commit.',
  oncebox_job_last_run_timestamp_seconds: 'When a job last did something.',
  oncebox_job_last_failure_timestamp_seconds: 'When a job last failed.',
  oncebox_healthy: 'Each part of /readyz: 1 when it is in order, 0 when something has to be done.',
  oncebox_ready: '1 while new pushes can be taken.',
  process_resident_memory_bytes: 'Resident memory.',
  process_heap_bytes: 'Memory of the JavaScript heap.',
  process_cpu_seconds_total: 'Processor time used.',
  process_start_time_seconds: 'When the process began, since 1970.',
  oncebox_event_loop_lag_seconds: 'How late a turn of the event loop is.',
  oncebox_build_info: 'The version that runs.',
}

function secondsByJob(jobs: readonly JobStatus[], name: 'lastDidAt' | 'lastFailedAt') {
  const times = jobs.flatMap((job) => {
    const time = job[name]
    return time === null ? [] : [[job.name, time / 1000]]
  })
  return Object.fromEntries(times)
}

function readProcessorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/**
 * Measures event loop lag: the time until a zero timer fires, minus the millisecond that every timer takes.
 */
async function measureLag(): Promise<number> {
  const startedAt = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 1))
  return Math.max(0, performance.now() - startedAt - 1) / 1000
}
