// What the database of a backup holds.

import { asc, count, eq, gt, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { accounts, apiTokens, auditEntries, pushes, pushLabels } from '../../tables.ts'
import type { Connection } from '../engine/database.ts'

/** Told now and then how many pushes are done, of how many. */
export type OnProgress = (done: number, total: number) => void

export type BackupToken = { email: string; name: string; prefix: string; lastUsedAt: number | null }

export type BackupContent = {
  accounts: number
  pushes: number
  /** Pushes that could still be opened when the backup was made, and whose time is not over. A restore expires them. */
  active: number
  /** Entries of audit logs. */
  entries: number
  /** Rows that had been altered on the disk of the server before the backup was made. */
  damaged: number
  /** The first of them, such as `push 17`. */
  damage: readonly string[]
  /** By account. */
  apiTokens: readonly BackupToken[]
}

type UnpackedRowsOptions = {
  connection: Connection
  /** Rows that were removed as belonging to nothing. */
  orphans: number
}

export function createUnpackedRows({ connection: { orm }, orphans }: UnpackedRowsOptions) {
  /** `now` tells the active pushes from those whose time is over. */
  function read(now: number): BackupContent {
    const unlabelled = countUnlabelled()
    const damage = [
      ...(unlabelled > 0 ? [`the names of ${unlabelled} pushes`] : []),
      ...(orphans > 0 ? [`${orphans} rows of pushes or accounts that are missing`] : []),
    ]
    return {
      ...{ accounts: sizeOf(accounts), pushes: sizeOf(pushes), entries: sizeOf(auditEntries) },
      active: sizeOf(pushes, sql`${isNull(pushes.expiredOn)} AND ${gt(pushes.expiresAt, now)}`),
      ...{ damaged: unlabelled + orphans, damage, apiTokens: listTokens() },
    }
  }

  function sizeOf(table: SQLiteTable, where?: SQL): number {
    return orm.select({ n: count() }).from(table).where(where).get()?.n ?? 0
  }

  /** Without its labels an owner would not find a push in any list. */
  function countUnlabelled(): number {
    const unlabelled = orm
      .select({ n: count() })
      .from(pushes)
      .leftJoin(pushLabels, eq(pushLabels.pushId, pushes.id))
      .where(sql`${isNotNull(pushes.ownerId)} AND ${isNull(pushLabels.pushId)}`)
    return unlabelled.get()?.n ?? 0
  }

  function listTokens(): BackupContent['apiTokens'] {
    const { name, prefix, lastUsedAt } = apiTokens
    return orm
      .select({ email: accounts.email, name, prefix, lastUsedAt })
      .from(apiTokens)
      .innerJoin(accounts, eq(accounts.id, apiTokens.accountId))
      .orderBy(asc(accounts.email), asc(apiTokens.id))
      .all()
  }

  return { read, countLive: () => sizeOf(pushes, isNull(pushes.expiredOn)) }
}
