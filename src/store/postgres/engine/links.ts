// Which process of which server is behind each open connection. Notices poolers, and servers that a failover left behind.

import { DomainError } from '../../../domain/errors.ts'
import type { Connection } from './connection.ts'
import { type ServerFacts, timelineOf } from './server-facts.ts'

export function createLinks() {
  const links = new Map<Connection, ServerFacts>()

  /** Throws `conflict`, and closes the connection, when its process at the server serves another one of ours. */
  function refusePooled(connection: Connection, { backend }: ServerFacts): void {
    if (![...links.values()].some((other) => other.backend === backend)) return
    connection.close()
    throw new DomainError('conflict', POOLED)
  }

  /** After a failover, the server that was left behind may go on for a while: nothing may be written there any more. */
  function endLeftBehind(newest: number): void {
    for (const [connection, facts] of links) if (timelineOf(facts) < newest) connection.lose()
  }

  function add(connection: Connection, facts: ServerFacts): void {
    for (const known of links.keys()) if (!known.isOpen()) links.delete(known)
    refusePooled(connection, facts)
    links.set(connection, facts)
    endLeftBehind(Math.max(...[...links.values()].map(timelineOf)))
  }

  return { add }
}

export const POOLED =
  'A pooler is in between that gives each transaction another connection to PostgreSQL (such as PgBouncer with ' +
  'pool_mode = transaction), so the settings of a connection do not hold. Name the server itself in --database-url, or set ' +
  'pool_mode = session.'
