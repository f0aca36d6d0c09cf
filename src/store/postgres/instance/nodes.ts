// This node among those that serve the database: its heartbeats, one after another, and what it knows of the others.

import type { Job, JobReport } from '../../../domain/job.ts'
import { SECOND } from '../../../domain/time.ts'
import type { NodeReport } from '../../database-face.ts'
import { tellOnce } from '../../every-engine/tell-once.ts'
import type { PostgresDatabase } from '../engine/database.ts'
import { createHeartbeat, type HeartbeatOptions } from './heartbeat.ts'
import { listNodes } from './node-rows.ts'

const BEAT_MS = 5 * SECOND

export type Nodes = {
  job: Job
  /** A heartbeat at once. */
  beat(): Promise<void>
  list(): Promise<NodeReport[]>
  /** The last heartbeat: the node is gone for the others. */
  leave(): Promise<void>
  /** Milliseconds since the last heartbeat that is durable. */
  sinceHeartbeat(): number
}

export type NodesOptions = Omit<HeartbeatOptions, 'database'> & {
  database: PostgresDatabase
  /** Milliseconds between heartbeats. */
  beatMs?: number | undefined
  /** Called after each heartbeat of the job: with null, or with what kept it from being written. */
  onBeat: (cause: unknown) => void
}

export function createNodes(options: NodesOptions): Nodes {
  const { database, standing, beatMs = BEAT_MS } = options
  const heartbeat = createHeartbeat(options)
  let timer: Timer | undefined
  let running: Promise<void> = Promise.resolve()

  /** One after the other. */
  function beatNext({ isLast }: { isLast: boolean }): Promise<void> {
    const next = running.then(() => heartbeat.beat(isLast))
    running = next.catch(() => undefined)
    return next
  }

  const beat = () => beatNext({ isLast: false })

  function start(report: JobReport): void {
    const { onBeat } = options
    const told = tellOnce(report)
    const did = () => {
      onBeat(null)
      told.did()
    }
    const failed = (cause: unknown) => {
      onBeat(cause)
      told.failed(cause)
    }
    timer = setInterval(() => beat().then(did, failed), beatMs)
  }

  function stop(): Promise<void> {
    clearInterval(timer)
    return running
  }

  return {
    job: { name: 'heartbeat', start, stop },
    beat,
    list: () => database.read((session) => listNodes(session, standing.node)),
    leave: () => beatNext({ isLast: true }),
    sinceHeartbeat: heartbeat.since,
  }
}
