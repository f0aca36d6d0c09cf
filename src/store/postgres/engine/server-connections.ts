// The connections to the server that takes writes, also after a failover to another one of the address.

import type { DatabaseCounts } from '../../database-face.ts'
import type { OnState } from './absence.ts'
import type { Connect, Connection } from './connection.ts'
import { createConnections } from './connections.ts'
import type { Deadline } from './deadline.ts'
import { createOpener, type OnConnect } from './opener.ts'

export type ServerConnections = {
  /** Runs work on a connection of its own. Throws `overloaded` when none becomes free in time. */
  use<T>(
    wait: { deadline: Deadline; isUrgent: boolean },
    work: (connection: Connection) => Promise<T>,
  ): Promise<T>
  /** Uses the server of several that a failover made the primary, also while the one before goes on. */
  followFailover(): Promise<void>
  /** Looks for the right server anew: no work that begins later uses a connection of now. */
  renew(): void
  count(): DatabaseCounts['connections']
  close(): void
}

export type ServerConnectionsOptions = {
  connect: Connect
  onConnect: OnConnect
  onState: OnState
  onWarning: (warning: string) => void
  /** Most connections at once. */
  max: number
}

export function createServerConnections(options: ServerConnectionsOptions): ServerConnections {
  const { max, onState } = options
  const opener = createOpener(options)
  const { acquire, release, renew, count, close } = createConnections({ open, max, onState })
  let looking: Promise<void> | null = null

  /** A connection that was lost may have been lost because another server is the primary now. */
  async function open(onLost: () => void): Promise<Connection> {
    const connection = await opener.open(onLost)
    void followFailover()
    return connection
  }

  function followFailover(): Promise<void> {
    looking ??= opener
      .findSuccessor()
      .then((isFound) => (isFound ? renew() : undefined))
      .finally(() => {
        looking = null
      })
    return looking
  }

  const use: ServerConnections['use'] = async (wait, work) => {
    const connection = await acquire(wait)
    try {
      return await work(connection)
    } finally {
      release(connection)
    }
  }

  return { use, followFailover, renew, count, close }
}
