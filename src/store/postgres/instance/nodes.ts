// This node among those that serve the database: its heartbeats, one after another, and what it knows of the others.

import { isDomainError } from '../../../domain/errors.ts'
import type { Job, JobReport } from '../../../domain/job.ts'
import { SECOND } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-face.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { createHeartbeat, type HeartbeatOptions } from './heartbeat.ts'
import { listNodes } from './node-rows.ts'

const BEAT_MS = 5 * SECOND
/** How often a failover is looked for: the former primary may go on answering, so its silence alone tells nothing. */
const FOLLOW_MS = 2 * SECOND

export type Nodes = {
  job: Job
  /** A heartbeat at once. */
  beat(): Promise<void>
  list(): Promise<NodeReport[]>
  /** The last heartbeat: the node is gone for the others. */
  leave(): Promise<void>
  /** Milliseconds since the last heartbeat that is durable. */
  sinceHeartbeat(): number
  /** `synchronous_standby_names` during that one. */
  heartbeatNames(): string
}

export type NodesOptions = Omit<HeartbeatOptions, 'database'> & {
  database: PostgresDatabase
  /** Milliseconds between heartbeats. */
  beatMs?: number | undefined
  /** Called after each heartbeat of the job: with null, or with what kept it from being written. */
  onBeat: (cause: unknown) => void
}

export function createNodes(options: NodesOptions): Nodes {
  const { database, node, hasOtherServers, beatMs = BEAT_MS } = options
  const heartbeat = createHeartbeat(options)
  let timer: Timer | undefined
  let followTimer: Timer | undefined
  let running: Promise<void> = Promise.resolve()

  /** One after the other. */
  function beatNext({ isLast }: { isLast: boolean }): Promise<void> {
    const next = running.then(() => heartbeat.beat(isLast))
    running = next.catch(() => undefined)
    return next
  }

  const beat = () => beatNext({ isLast: false })

  function start(report: JobReport): void {
    const told = createTelling(report, options.onBeat)
    timer = setInterval(() => beat().then(told.did, told.failed), beatMs)
    if (hasOtherServers) followTimer = setInterval(() => void database.followFailover(), FOLLOW_MS)
  }

  function stop(): Promise<void> {
    clearInterval(timer)
    clearInterval(followTimer)
    return running
  }

  return {
    job: { name: 'heartbeat', start, stop },
    beat,
    list: () => database.read((session) => listNodes(session, node)),
    leave: () => beatNext({ isLast: true }),
    sinceHeartbeat: heartbeat.since,
    heartbeatNames: heartbeat.names,
  }
}

/** Reports each heartbeat of the job. A failure that goes on is told once. */
function createTelling(report: JobReport, onBeat: NodesOptions['onBeat']) {
  let told: string | null = null
  return {
    did: () => {
      told = null
      onBeat(null)
      report.did()
    },
    failed: (cause: unknown) => {
      onBeat(cause)
      report.failed(cause, { isTold: !isDomainError(cause) && String(cause) === told })
      told = String(cause)
    },
  }
}
