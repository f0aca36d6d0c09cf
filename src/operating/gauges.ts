// The values that the metrics read from a running server whenever Prometheus asks.

import type { Swept } from '../pushes/sweeper.ts'
import type { DamageReports } from '../store/face.ts'
import type { BucketReport, FreeSpace } from '../store/files-face.ts'
import type { LookAtHealth } from './health.ts'
import type { JobStatus } from './jobs.ts'
import type { Gauged } from './metrics.ts'

export type ProcessNumbers = {
  /** Bytes. */
  resident: number
  heap: number
  /** Seconds since the process began. */
  cpu: number
  startedAt: number
}

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
  damage: DamageReports
  lookAtHealth: LookAtHealth
  readProcess: () => ProcessNumbers
}

export function createGauges(options: GaugesOptions): Gauged[] {
  return [
    ...ofPushes(options),
    ...ofQueues(options),
    ...ofDisk(options),
    ...(options.bucket === null ? [] : ofBucket(options.bucket)),
    ...ofJobs(options),
    ...ofProcess(options),
  ]
}

function ofPushes({ countLive, sweptTotals }: GaugesOptions): Gauged[] {
  return [
    {
      name: 'oncebox_pushes_live',
      help: 'Pushes that can be opened, counted at most twice a minute.',
      read: countLive,
    },
    {
      name: 'oncebox_swept_total',
      help: 'What the sweeper did: pushes expired by time, pushes purged, files removed.',
      isCounter: true,
      label: 'what',
      read: () => ({ ...sweptTotals() }),
    },
  ]
}

function ofQueues({ waitingWorks, countHashing, countUploads }: GaugesOptions): Gauged[] {
  return [
    { name: 'oncebox_commit_queue', help: 'Changes that wait for a group commit.', read: waitingWorks },
    {
      name: 'oncebox_hash_queue',
      help: 'Passwords and passphrases that wait to be hashed, and those that are being hashed.',
      label: 'of',
      read: countHashing,
    },
    { name: 'oncebox_uploads_running', help: 'Files that are being received.', read: countUploads },
  ]
}

function ofDisk({ freeSpace, damage }: GaugesOptions): Gauged[] {
  const measured = (
    pick: (disk: Awaited<ReturnType<FreeSpace['measure']>>) => number | Record<string, number>,
  ) => {
    return async () => pick(await freeSpace.measure())
  }
  return [
    {
      name: 'oncebox_disk_free_bytes',
      help: 'Free on the disk of the data folder.',
      read: measured((disk) => disk.free),
    },
    {
      name: 'oncebox_disk_bytes',
      help: 'Size of the disk of the data folder.',
      read: measured((disk) => disk.total),
    },
    {
      name: 'oncebox_disk_free_inodes',
      help: 'Files that the disk of the data folder still has room for; none where it does not count them.',
      label: 'disk',
      read: measured(({ inodes }) => (inodes === null ? {} : { data: inodes.free })),
    },
    {
      name: 'oncebox_damaged_places',
      help: 'Places found damaged since the start.',
      read: () => damage.count(),
    },
  ]
}

/** Whether it works is told as the part `files` of `oncebox_healthy`. */
function ofBucket({ countRequests, isFull }: BucketReport): Gauged[] {
  return [
    {
      name: 'oncebox_bucket_requests_total',
      help: 'Requests to the bucket of the files: answered, tried again, for what is not there, failed.',
      isCounter: true,
      label: 'outcome',
      read: () => ({ ...countRequests() }),
    },
    {
      name: 'oncebox_bucket_full',
      help: '1 when the bucket refused the last file for want of room.',
      read: () => Number(isFull()),
    },
  ]
}

function ofJobs({ listJobs, lookAtHealth }: GaugesOptions): Gauged[] {
  const byJob = (read: (job: JobStatus) => number | null) => () =>
    Object.fromEntries(listJobs().flatMap((job) => ofName(job.name, read(job))))
  return [
    {
      name: 'oncebox_job_last_run_timestamp_seconds',
      help: 'When a job last did something.',
      label: 'job',
      read: byJob(({ lastDidAt }) => seconds(lastDidAt)),
    },
    {
      name: 'oncebox_job_last_failure_timestamp_seconds',
      help: 'When a job last failed.',
      label: 'job',
      read: byJob(({ lastFailedAt }) => seconds(lastFailedAt)),
    },
    {
      name: 'oncebox_healthy',
      help: 'Each part of /readyz: 1 when it is in order, 0 when something has to be done.',
      label: 'part',
      read: async () => {
        const { findings } = await lookAtHealth()
        return Object.fromEntries(findings.map(({ part, state }) => [part, Number(state === 'ok')]))
      },
    },
    {
      name: 'oncebox_ready',
      help: '1 while new pushes can be taken.',
      read: async () => Number((await lookAtHealth()).isReady),
    },
  ]
}

function ofProcess({ readProcess, version }: GaugesOptions): Gauged[] {
  const read = (pick: (numbers: ProcessNumbers) => number) => () => pick(readProcess())
  return [
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory.',
      read: read(({ resident }) => resident),
    },
    { name: 'process_heap_bytes', help: 'Memory of the JavaScript heap.', read: read(({ heap }) => heap) },
    {
      name: 'process_cpu_seconds_total',
      help: 'Processor time used.',
      isCounter: true,
      read: read(({ cpu }) => cpu),
    },
    {
      name: 'process_start_time_seconds',
      help: 'When the process began, since 1970.',
      read: read(({ startedAt }) => startedAt),
    },
    {
      name: 'oncebox_event_loop_lag_seconds',
      help: 'How late a turn of the event loop is.',
      read: measureLag,
    },
    {
      name: 'oncebox_build_info',
      help: 'The version that runs.',
      label: 'version',
      read: () => ({ [version]: 1 }),
    },
  ]
}

/** The time until a timer without delay fires, minus the millisecond that every timer takes. */
async function measureLag(): Promise<number> {
  const startedAt = performance.now()
  await new Promise((resolve) => setTimeout(resolve, 1))
  return Math.max(0, performance.now() - startedAt - 1) / 1000
}

function ofName(name: string, value: number | null): [string, number][] {
  return value === null ? [] : [[name, value]]
}

function seconds(time: number | null): number | null {
  return time === null ? null : time / 1000
}
