// What opening the store of a node over PostgreSQL takes.

import type { Now } from '../../domain/time.ts'
import type { OnState } from '../postgres/engine/absence.ts'
import type { Connect } from '../postgres/engine/connection.ts'
import type { SeenNode } from '../postgres/instance/node-rows.ts'
import type { CommonStoreOptions } from './opened-store.ts'

export type PostgresStoreOptions = CommonStoreOptions & {
  /** All nodes have the same instance key. */
  keyFile: string
  connect: Connect
  /** Most connections at once. */
  connections?: number
  outage?: OutageWatch
  /** By what the other nodes and operators know this node. */
  label: NodeLabel
  clock: {
    /** In place of the database's clock; null for that one. */
    systemNow: Now | null
  }
  /** The operator says that the database was moved, and not restored. */
  acceptDatabase?: boolean
  pace?: Pace
}

/** Of the machine and of the program. */
export type NodeLabel = Pick<SeenNode, 'name' | 'version'>

/** Is told what connections and heartbeats notice, and tells the operator. */
export type OutageWatch = {
  onState: OnState
  /** Called after each heartbeat: with null when it is durable, or with what kept it from that. */
  onBeat: (cause: unknown) => void
  /** Why the server gives this node no connections, in whole sentences; null while it does. */
  explainLoss: () => string | null
  /** Whether the operator has been told of an outage that goes on. */
  isOn: () => boolean
}

/** Milliseconds, for tests. */
export type Pace = {
  /** Between heartbeats. */
  beatMs?: number | undefined
}
