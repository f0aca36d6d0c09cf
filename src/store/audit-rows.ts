// The audit log of each push: a chain of entries, the push naming the last and each entry the one before it.
//
// Entries are appended to one table in the order of time, so that the visits of a batch share a page or two. A table
// ordered by push, or an index on it, would have every visit rewrite a page of its own.

import { inArray, max } from 'drizzle-orm'
import { type AuditEntry, type AuditKind, PAGE_SIZE, type Visit } from '../domain/audit.ts'
import { DamageError } from '../domain/errors.ts'
import type { Connection } from './database.ts'
import { prepareInsert } from './prepared.ts'
import { checksumOf, requireIntactRow } from './row-checksum.ts'
import { auditEntries } from './schema.ts'

/** Where a push's log ends and how long it is. */
export type LogEnd = { lastEntry: number | null; auditEntries: number }

export type NewEntry = { pushId: number; kind: AuditKind; at: number; visit: Visit }

type EntryRow = typeof auditEntries.$inferSelect
type Chain = LogEnd & { id: number }

export type AuditRows = ReturnType<typeof createAuditRows>

export function createAuditRows({ orm, database }: Connection) {
  const insert = prepareInsert(database, auditEntries)
  const page = database.prepare<EntryRow, { pushId: number; last: number; from: number; to: number }>(PAGE)
  const removeChain = database.prepare<unknown, { pushId: number; last: number }>(REMOVE)
  let lastId =
    orm
      .select({ id: max(auditEntries.id) })
      .from(auditEntries)
      .get()?.id ?? 0

  /** Adds an entry after `end`; returns the new end. Only the serving process does. */
  function append(end: LogEnd, { pushId, kind, at, visit }: NewEntry): LogEnd {
    lastId += 1
    const { auditEntries: n, lastEntry: previous } = end
    const entry = { id: lastId, pushId, n, previous, kind, at, ...visit }
    insert({ ...entry, checksum: checksumOfEntry(entry) })
    return { lastEntry: lastId, auditEntries: end.auditEntries + 1 }
  }

  /** Oldest first; `pageNumber` counts from 1. */
  function listPage(log: Chain, pageNumber: number): AuditEntry[] {
    const from = (pageNumber - 1) * PAGE_SIZE
    return listBetween(log, from, Math.min(from + PAGE_SIZE, log.auditEntries))
  }

  /** Oldest first. */
  function listAll(log: Chain): AuditEntry[] {
    return listBetween(log, 0, log.auditEntries)
  }

  /** Throws when one of them is missing or was altered on disk. */
  function listBetween({ id, lastEntry }: Chain, from: number, to: number): AuditEntry[] {
    if (lastEntry === null || from >= to) return []
    const rows = page.all({ pushId: id, last: lastEntry, from, to })
    if (rows.length !== to - from) throw new DamageError(`the audit log of push ${id}`)
    return rows.map((row) => {
      requireIntactEntry(row)
      const { kind, at, ip, userAgent, referrer } = row
      return { kind, at, ip, userAgent, referrer }
    })
  }

  function remove({ id, lastEntry, auditEntries }: Chain): void {
    if (lastEntry === null) return
    const { changes } = removeChain.run({ pushId: id, last: lastEntry })
    if (changes !== auditEntries) removeAll([id])
  }

  /** Also what a damaged chain does not lead to. Reads the whole table: for the rare pushes that damage has hit. */
  function removeAll(pushIds: number[]): void {
    orm.delete(auditEntries).where(inArray(auditEntries.pushId, pushIds)).run()
  }

  return { append, listPage, listAll, remove, removeAll }
}

/** Throws when an entry was altered on disk. */
export function requireIntactEntry(row: EntryRow): void {
  requireIntactRow(row, checksumOfEntry(row), `entry ${row.id} of the audit log`)
}

function checksumOfEntry(entry: Omit<EntryRow, 'checksum'>): number {
  const { id, pushId, n, previous, kind, at, ip, userAgent, referrer } = entry
  return checksumOf([id, pushId, n, previous, kind, at, ip, userAgent, referrer])
}

// Neither leaves the push, whatever a damaged entry names as the one before it.
const PAGE = `
  WITH RECURSIVE chain AS (
    SELECT * FROM audit_entries WHERE id = $last AND push_id = $pushId
    UNION ALL
    SELECT entry.* FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous
    WHERE chain.n > $from AND entry.push_id = $pushId AND entry.n < chain.n
  )
  SELECT id, push_id AS pushId, n, previous, kind, at, ip, user_agent AS userAgent, referrer, checksum
  FROM chain WHERE n >= $from AND n < $to ORDER BY n`

const REMOVE = `
  WITH RECURSIVE chain(id, previous, n) AS (
    SELECT id, previous, n FROM audit_entries WHERE id = $last AND push_id = $pushId
    UNION ALL
    SELECT entry.id, entry.previous, entry.n FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous
    WHERE entry.push_id = $pushId AND entry.n < chain.n
  )
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM chain)`
