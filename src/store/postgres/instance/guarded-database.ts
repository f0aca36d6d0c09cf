// The database as the operations of a node use it: it refuses everything while nothing may be served.

import type { PostgresDatabase, Session } from '../engine/database.ts'

export type Works = Pick<PostgresDatabase, 'read' | 'transact'>

/** `requireServing` throws while nothing may be served. It is asked again on the connection, whose opening may have found that. */
export function guardDatabase({ read, transact }: Works, requireServing: () => void): Works {
  const guarded =
    <T>(work: (session: Session) => Promise<T>) =>
    (session: Session) => {
      requireServing()
      return work(session)
    }
  return {
    read: async (work, options) => {
      requireServing()
      return read(guarded(work), options)
    },
    transact: async (work, options) => {
      requireServing()
      return transact(guarded(work), options)
    },
  }
}
