// What the metrics tell of the connections to a database server, and of the nodes that share it.

import type { DatabaseCounts, DatabaseReport } from '../store/database-face.ts'
import type { Gauged } from './metrics.ts'

export function createDatabaseGauges({
  count,
  look,
  listNodes,
  sinceHeartbeat,
  isFull,
}: DatabaseReport): Gauged[] {
  return [
    ...ofConnections(count),
    ...ofWork(count),
    {
      name: 'oncebox_database_round_trip_seconds',
      help: 'Time of one small question to the database, asked now; none when it does not answer.',
      read: async () => {
        const found = await look()
        return found === null ? null : found.roundTrip / 1000
      },
    },
    {
      name: 'oncebox_database_heartbeat_age_seconds',
      help: 'Time since this node last wrote to the database that it is alive, which it does every five seconds.',
      read: () => sinceHeartbeat() / 1000,
    },
    {
      name: 'oncebox_database_full',
      help: '1 when the database refused changes in the last five minutes because its disk is full.',
      read: () => Number(isFull()),
    },
    {
      name: 'oncebox_nodes',
      help: 'Nodes that serve the database.',
      read: async () => (await listNodes()).filter(({ isAlive }) => isAlive).length,
    },
  ]
}

function ofConnections(count: () => DatabaseCounts): Gauged[] {
  return [
    {
      name: 'oncebox_database_connections',
      help: 'Connections of this node to the database: in use, idle, and the most that it may open.',
      label: 'state',
      read: () => {
        const { inUse, idle, most } = count().connections
        return { in_use: inUse, idle, most }
      },
    },
    {
      name: 'oncebox_database_waiting',
      help: 'Works that wait for a connection to the database.',
      read: () => count().connections.waiting,
    },
  ]
}

function ofWork(count: () => DatabaseCounts): Gauged[] {
  const counter = (name: string, help: string, read: (counts: DatabaseCounts) => number): Gauged => ({
    ...{ name, help, isCounter: true },
    read: () => read(count()),
  })
  return [
    counter('oncebox_database_reads_total', 'Reads that the database answered.', ({ reads }) => reads),
    counter(
      'oncebox_database_transactions_total',
      'Transactions that are durable.',
      ({ transactions }) => transactions,
    ),
    counter(
      'oncebox_database_failures_total',
      'Reads and transactions that failed after all tries.',
      ({ failures }) => failures,
    ),
    counter(
      'oncebox_database_retries_total',
      'Tries after the first one: conflicts, lost connections, a server that does not answer.',
      ({ retries }) => retries,
    ),
    counter(
      'oncebox_database_seconds_total',
      'Time that reads and transactions took in all, from asking for a connection to the answer.',
      ({ seconds }) => seconds,
    ),
    {
      name: 'oncebox_database_settlements_total',
      help: 'Transactions whose connection was lost in their commit, by what was found out about them.',
      isCounter: true,
      label: 'outcome',
      read: () => ({ ...count().settled }),
    },
  ]
}
