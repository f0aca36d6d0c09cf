// One look at a server, over a connection of its own.

import { openConnection } from './connection.ts'
import { deadlineIn } from './deadline.ts'
import { readServerFacts, type ServerFacts } from './server-facts.ts'
import type { Server, ServerFailure } from './servers.ts'

export type SeenServer = { server: Server; facts: ServerFacts }

/** `within`: milliseconds for the connection, and again for the answer. */
export async function lookAtServer(server: Server, within: number): Promise<SeenServer | ServerFailure> {
  try {
    const connection = await openConnection({
      connect: server.open,
      openWithin: within,
      prepare: async () => undefined,
      onLost: () => undefined,
    })
    const patience = { answer: within, end: deadlineIn(within) }
    const facts = await connection.run(readServerFacts, patience).finally(connection.close)
    return { server, facts }
  } catch (cause) {
    return { server, cause }
  }
}
