// Makes the operations of the store from connections to PostgreSQL.

import type { Now } from '../../domain/time.ts'
import type { PostgresDatabase } from './engine/database.ts'
import { createAuditLog } from './lists/audit-log.ts'
import { createPushLists } from './lists/push-lists.ts'

export type PostgresOperationsOptions = {
  database: Pick<PostgresDatabase, 'read' | 'transact'>
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
  /** Given the database's clock in milliseconds, whenever it was read. */
  observe: (databaseTime: number) => void
  /** The id of this process among the nodes, 16 random bytes. */
  node: Uint8Array
  onError: (cause: unknown) => void
}

export function createPostgresOperations({ database, now, certain }: PostgresOperationsOptions) {
  const { read, transact } = database
  return {
    lists: createPushLists({ read, transact, now, certain }),
    audit: createAuditLog(read),
  }
}
