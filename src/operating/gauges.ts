// The values that the metrics read from a running server whenever Prometheus asks.

import type { Swept } from '../pushes/sweeper.ts'
import type { DatabaseCounts, DatabaseReport } from '../store/database-face.ts'
import type { DamageReports } from '../store/face.ts'
import type { BucketReport, FreeSpace } from '../store/files-face.ts'
import type { LookAtHealth } from './health.ts'
import type { JobStatus } from './jobs.ts'
import type { Gauged } from './metrics.ts'

export type GaugesOptions = {
  version: string
  countLive: () => Promise<number>
  sweptTotals: () => Swept
  listJobs: () => readonly JobStatus[]
  /** Changes that wait for a group commit. */
  waitingWorks: () => number
  /** Passphrases and passwords that wait for a lane, and those that are worked on. */
  countHashing: () => { waiting: number; running: number }
  countUploads: () => number
  freeSpace: FreeSpace
  bucket: BucketReport | null
  /** Null when rows are in the data folder. */
  database: DatabaseReport | null
  damage: DamageReports
  lookAtHealth: LookAtHealth
}

export function createGauges(options: GaugesOptions): Gauged[] {
  return [
    ...ofPushes(options),
    ...ofDisk(options),
    ...(options.bucket === null ? [] : ofBucket(options.bucket)),
    ...(options.database === null ? [] : createDatabaseGauges(options.database)),
    ...ofJobs(options),
    ...ofProcess(options),
  ]
}

type Read = Gauged['read']

const gauge = (name: string, help: string, read: Read): Gauged => ({ name, help, read })
/** Several numbers, one for each value of the label. */
const gauges = (name: string, label: string, help: string, read: Read): Gauged => ({
  name,
  label,
  help,
  read,
})
/** Grows while the process lives. */
const counter = (name: string, help: string, read: Read): Gauged => ({ name, help, read, isCounter: true })
const counters = (name: string, label: string, help: string, read: Read): Gauged => ({
  ...counter(name, help, read),
  label,
})

function ofPushes({
  countLive,
  sweptTotals,
  waitingWorks,
  countHashing,
  countUploads,
}: GaugesOptions): Gauged[] {
  const swept = 'What the sweeper did: pushes expired by time, pushes purged, files removed.'
  const hashed = 'Passwords and passphrases that wait to be hashed, and those that are being hashed.'
  return [
    gauge('oncebox_pushes_live', 'Pushes that can be opened, counted at most once a minute.', countLive),
    counters('oncebox_swept_total', 'what', swept, () => ({ ...sweptTotals() })),
    gauge('oncebox_commit_queue', 'Changes that wait for a group commit.', waitingWorks),
    gauges('oncebox_hash_queue', 'of', hashed, countHashing),
    gauge('oncebox_uploads_running', 'Files that are being received.', countUploads),
  ]
}

function ofDisk({ freeSpace, damage }: GaugesOptions): Gauged[] {
  const inodes =
    'Files that the disk of the data folder still has room for; none where it does not count them.'
  const measured =
    (pick: (disk: Awaited<ReturnType<FreeSpace['measure']>>) => ReturnType<Read>) => async () =>
      pick(await freeSpace.measure())
  return [
    gauge(
      'oncebox_disk_free_bytes',
      'Free on the disk of the data folder.',
      measured(({ free }) => free),
    ),
    gauge(
      'oncebox_disk_bytes',
      'Size of the disk of the data folder.',
      measured(({ total }) => total),
    ),
    gauges(
      'oncebox_disk_free_inodes',
      'disk',
      inodes,
      measured((disk) => (disk.inodes === null ? {} : { data: disk.inodes.free })),
    ),
    gauge('oncebox_damaged_places', 'Places found damaged since the start.', () => damage.count()),
  ]
}

/** Whether it works is told as the part `files` of `oncebox_healthy`. */
function ofBucket({ countRequests, isFull }: BucketReport): Gauged[] {
  const requests =
    'Requests to the bucket of the files: answered, tried again, for what is not there, failed.'
  const full = '1 when the bucket refused the last file for want of room.'
  return [
    counters('oncebox_bucket_requests_total', 'outcome', requests, () => ({ ...countRequests() })),
    gauge('oncebox_bucket_full', full, () => Number(isFull())),
  ]
}

export function createDatabaseGauges({
  count,
  look,
  listNodes,
  sinceHeartbeat,
  isFull,
}: DatabaseReport): Gauged[] {
  const connections = 'Connections of this node to the database: in use, idle, and the most that it may open.'
  const round = 'Time of one small question to the database, asked now; none when it does not answer.'
  const beat =
    'Time since this node last wrote to the database that it is alive, which it does every five seconds.'
  const full = '1 when the database refused changes in the last five minutes because its disk is full.'
  const readConnections = () => {
    const { inUse, idle, most } = count().connections
    return { in_use: inUse, idle, most }
  }
  const countAlive = async () => (await listNodes()).filter(({ isAlive }) => isAlive).length
  const ask = async () => {
    const found = await look()
    return found === null ? null : found.roundTrip / 1000
  }
  return [
    gauges('oncebox_database_connections', 'state', connections, readConnections),
    gauge(
      'oncebox_database_waiting',
      'Works that wait for a connection to the database.',
      () => count().connections.waiting,
    ),
    gauge('oncebox_database_round_trip_seconds', round, ask),
    gauge('oncebox_database_heartbeat_age_seconds', beat, () => sinceHeartbeat() / 1000),
    gauge('oncebox_database_full', full, () => Number(isFull())),
    gauge('oncebox_nodes', 'Nodes that serve the database.', countAlive),
    ...ofWork(count),
  ]
}

function ofWork(count: () => DatabaseCounts): Gauged[] {
  const settled = 'Transactions whose connection was lost in their commit, by what was found out about them.'
  const ofCounts = (name: keyof typeof WORK) =>
    counter(`oncebox_database_${name}_total`, WORK[name], () => count()[name])
  return [
    ...(['reads', 'transactions', 'failures', 'retries', 'seconds'] as const).map(ofCounts),
    counters('oncebox_database_settlements_total', 'outcome', settled, () => ({ ...count().settled })),
  ]
}

const WORK = {
  reads: 'Reads that the database answered.',
  transactions: 'Transactions that are durable.',
  failures: 'Reads and transactions that failed after all tries.',
  retries: 'Tries after the first one: conflicts, lost connections, a server that does not answer.',
  seconds: 'Time that reads and transactions took in all, from asking for a connection to the answer.',
}

function ofJobs({ listJobs, lookAtHealth }: GaugesOptions): Gauged[] {
  const byJob = (read: (job: JobStatus) => number | null) => () =>
    Object.fromEntries(
      listJobs().flatMap((job) => {
        const time = read(job)
        return time === null ? [] : [[job.name, time / 1000]]
      }),
    )
  const readParts = async () =>
    Object.fromEntries(
      (await lookAtHealth()).findings.map(({ part, state }) => [part, Number(state === 'ok')]),
    )
  const healthy = 'Each part of /readyz: 1 when it is in order, 0 when something has to be done.'
  const ready = '1 while new pushes can be taken.'
  return [
    gauges(
      'oncebox_job_last_run_timestamp_seconds',
      'job',
      'When a job last did something.',
      byJob(({ lastDidAt }) => lastDidAt),
    ),
    gauges(
      'oncebox_job_last_failure_timestamp_seconds',
      'job',
      'When a job last failed.',
      byJob(({ lastFailedAt }) => lastFailedAt),
    ),
    gauges('oncebox_healthy', 'part', healthy, readParts),
    gauge('oncebox_ready', ready, async () => Number((await lookAtHealth()).isReady)),
  ]
}

function ofProcess({ version }: GaugesOptions): Gauged[] {
  const { memoryUsage, cpuUsage } = process
  const readProcessorTime = () => {
    const { user, system } = cpuUsage()
    return (user + system) / 1e6
  }
  return [
    gauge('process_resident_memory_bytes', 'Resident memory.', () => memoryUsage().rss),
    gauge('process_heap_bytes', 'Memory of the JavaScript heap.', () => memoryUsage().heapUsed),
    counter('process_cpu_seconds_total', 'Processor time used.', readProcessorTime),
    gauge(
      'process_start_time_seconds',
      'When the process began, since 1970.',
      () => performance.timeOrigin / 1000,
    ),
    gauge('oncebox_event_loop_lag_seconds', 'How late a turn of the event loop is.', measureLag),
    gauges('oncebox_build_info', 'version', 'The version that runs.', () => ({ [version]: 1 })),
  ]
}

/** The time until a timer without delay fires, minus the millisecond that every timer takes. */
async function measureLag(): Promise<number> {
  const startedAt = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 1))
  return Math.max(0, performance.now() - startedAt - 1) / 1000
}
