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
}

export function createPostgresOperations({ database, now, certain }: PostgresOperationsOptions) {
  const { read, transact } = database
  return {
    lists: createPushLists({ read, transact, now, certain }),
    audit: createAuditLog(read),
  }
}
