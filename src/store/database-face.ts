// What an operator wants to know of the database server and the nodes, when rows are not in the data folder.

export type NodeReport = {
  /** Of its machine. */
  name: string
  /** Of its program. */
  version: string
  /** By the database's clock, in milliseconds since 1970. */
  startedAt: number
  seenAt: number
  /** Whether it is this process. */
  isThis: boolean
  /** False for one that was not seen for a while, and has not been removed yet. */
  isAlive: boolean
}

export type DatabaseReport = {
  /** Throws `overloaded` when the database does not answer. */
  listNodes(): Promise<NodeReport[]>
  /** Why nothing is served, in whole sentences for the operator; null while everything is. Never takes long. */
  findRefusal(): string | null
}
