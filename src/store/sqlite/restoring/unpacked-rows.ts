// What the database of a backup holds, and which of its rows are not as they were written.

import { asc, count, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DamageError } from '../../../domain/errors.ts'
import { isExpired } from '../../../domain/push.ts'
import { accounts, apiTokens } from '../../tables.ts'
import type { Connection } from '../engine/database.ts'
import { prepareFind, prepareWalk } from '../engine/prepared.ts'
import { auditEntries, pushes, pushLabels } from '../engine/schema.ts'
import { requireIntactEntry } from '../pushes/audit-chains.ts'
import type { AuditRows } from '../pushes/audit-rows.ts'
import { type PushRow, requireIntactPush } from '../pushes/push-checksum.ts'

const STEP = 500
/** Entries of a log. */
const SHORT = 20
/** Of more places the number is told, not each. */
const MAX_TOLD = 20

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
  audit: Pick<AuditRows, 'readAll'>
}

export function createUnpackedRows({ connection, orphans, audit }: UnpackedRowsOptions) {
  const { orm, database } = connection
  const findEntry = prepareFind(database, auditEntries, 'id')

  /** Reads everything once; `now` tells the active pushes from those whose time is over. */
  async function read(now: number, onProgress: OnProgress): Promise<BackupContent> {
    const damage = createFindings()
    const numbers = { accounts: sizeOf(accounts), pushes: sizeOf(pushes), entries: sizeOf(auditEntries) }
    let active = 0
    let done = 0
    await walk(pushes, (row) => {
      if (!isExpired(row, now)) active += 1
      damage.look(() => requireIntactLog(row))
      done += 1
      if (done % STEP === 0) onProgress(done, numbers.pushes)
    })
    damage.add(numbers.pushes - done, (n) => `the ids of ${n} pushes`)
    damage.add(countUnlabelled(), (n) => `the names of ${n} pushes`)
    damage.add(orphans, (n) => `${n} rows of pushes or accounts that are missing`)
    return { ...numbers, active, damaged: damage.number(), damage: damage.told, apiTokens: listTokens() }
  }

  /** A million rows would keep a signal waiting. */
  async function walk<T extends SQLiteTable & { id: SQLiteColumn }>(
    table: T,
    look: (row: T['$inferSelect']) => void,
  ): Promise<void> {
    const next = prepareWalk(database, table, STEP)
    for (let last = 0; ; ) {
      const some = next(last)
      for (const row of some) look(row)
      if (some.length < STEP) return
      last = Number(some.at(-1)?.id)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  function requireIntactLog(row: PushRow): void {
    requireIntactPush(row)
    if (row.auditEntries <= SHORT) walkBack(row)
    else for (const _ of audit.readAll(row));
  }

  /** Entry by entry, which for a few of them takes a third of the time of a recursive query. */
  function walkBack({ id, auditEntries: length, lastEntry }: PushRow): void {
    let next = lastEntry
    for (let n = length - 1; n >= 0; n -= 1) {
      const entry = next === null ? undefined : findEntry(next)
      if (entry?.pushId !== id || entry.n !== n) throw new DamageError(`the audit log of push ${id}`)
      requireIntactEntry(entry)
      next = entry.previous
    }
  }

  function sizeOf(table: SQLiteTable): number {
    return orm.select({ n: count() }).from(table).get()?.n ?? 0
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

  return { read }
}

function createFindings() {
  const told: string[] = []
  let number = 0

  function note(place: string): void {
    number += 1
    if (told.length < MAX_TOLD) told.push(place)
  }

  return {
    told,
    number: () => number,
    look(check: () => void): void {
      try {
        check()
      } catch (cause) {
        if (!(cause instanceof DamageError)) throw cause
        note(cause.place)
      }
    },
    add(found: number, place: (found: number) => string): void {
      if (found > 0) note(place(found))
    },
  }
}
