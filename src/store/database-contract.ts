// Facts about the database server and the nodes for the operator, if the rows are not in the data folder.

export type NodeReport = {
  /** The name of its machine. */
  name: string
  /** The version of its program. */
  version: string
  /** The start by the database's clock, in milliseconds since 1970. */
  startedAt: number
  seenAt: number
  /** Whether it is this process. */
  isThis: boolean
  /** False for a node that was silent for a while, but is not removed yet. */
  isAlive: boolean
}

/** Counts since the start of this process; `connections` are the present ones. */
export type DatabaseCounts = {
  connections: { inUse: number; idle: number; most: number; waiting: number }
  reads: number
  transactions: number
  /** Reads and transactions that failed, after all tries. */
  failures: number
  /** The number of repeated attempts. */
  retries: number
  /** Transactions whose connection was lost in their commit. */
  unknownOutcomes: number
  /** Time of all reads and transactions, retries and waiting included. */
  seconds: number
}

export type DatabaseResponse = {
  /** The time of a round trip in milliseconds. */
  roundTrip: number
}

export type DatabaseReport = {
  /** Resolves to null when the database does not answer within a second or two. */
  look(): Promise<DatabaseResponse | null>
  count(): DatabaseCounts
  /** Milliseconds since a heartbeat of this node was durable. */
  sinceHeartbeat(): number
  /** Throws `overloaded` when the database does not answer. */
  listNodes(): Promise<NodeReport[]>
  /**
   * Returns why this node serves nothing, in whole sentences for the operator; null while it serves. Always
   * quick.
   */
  findRefusal(): string | null
  /** Whether it has refused changes lately because its disk is full. */
  isFull(): boolean
  /**
   * Returns why the server refuses connections to this node, in whole sentences for the operator; null if it
   * does not, or if the reason is unknown.
   */
  explainLoss(): string | null
  /** Whether an outage has been logged, so that refused requests and jobs need not be. */
  isOut(): boolean
}
