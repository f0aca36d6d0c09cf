// The audit log of each push: a chain of entries, the push naming the last and each entry the one before it.
//
// Entries are appended to one table in the order of time, so that the visits of a batch share a page or two. A table
// ordered by push, or an index on it, would have every visit rewrite a page of its own.

import { max } from 'drizzle-orm'
import { type AuditEntry, type AuditKind, PAGE_SIZE, type Visit } from '../domain/audit.ts'
import type { Connection } from './database.ts'
import { placeholdersOf } from './placeholders.ts'
import { auditEntries } from './schema.ts'

/** Where a push's log ends and how long it is. */
export type LogEnd = { lastEntry: number | null; auditEntries: number }

export type NewEntry = { pushId: number; kind: AuditKind; at: number; visit: Visit }

export type AuditRows = ReturnType<typeof createAuditRows>

export function createAuditRows({ orm, database }: Connection) {
  const insert = orm.insert(auditEntries).values(placeholdersOf(auditEntries)).prepare()
  const page = database.prepare<AuditEntry, { last: number; from: number; to: number }>(PAGE)
  const removeChain = database.prepare<unknown, { last: number }>(REMOVE)
  let lastId =
    orm
      .select({ id: max(auditEntries.id) })
      .from(auditEntries)
      .get()?.id ?? 0

  /** Adds an entry after `end`; returns the new end. Only the serving process does. */
  function append(end: LogEnd, { pushId, kind, at, visit }: NewEntry): LogEnd {
    lastId += 1
    insert.run({ id: lastId, pushId, n: end.auditEntries, previous: end.lastEntry, kind, at, ...visit })
    return { lastEntry: lastId, auditEntries: end.auditEntries + 1 }
  }

  /** Oldest first; `pageNumber` counts from 1. */
  function listPage({ lastEntry, auditEntries }: LogEnd, pageNumber: number): AuditEntry[] {
    const from = (pageNumber - 1) * PAGE_SIZE
    if (lastEntry === null || from >= auditEntries) return []
    return page.all({ last: lastEntry, from, to: from + PAGE_SIZE })
  }

  /** Oldest first. */
  function listAll({ lastEntry, auditEntries }: LogEnd): AuditEntry[] {
    return lastEntry === null ? [] : page.all({ last: lastEntry, from: 0, to: auditEntries })
  }

  function remove({ lastEntry }: Pick<LogEnd, 'lastEntry'>): void {
    if (lastEntry !== null) removeChain.run({ last: lastEntry })
  }

  return { append, listPage, listAll, remove }
}

const PAGE = `
  WITH RECURSIVE chain AS (
    SELECT * FROM audit_entries WHERE id = $last
    UNION ALL
    SELECT entry.* FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous WHERE chain.n > $from
  )
  SELECT kind, at, ip, user_agent AS userAgent, referrer FROM chain WHERE n < $to ORDER BY n`

const REMOVE = `
  WITH RECURSIVE chain(id, previous) AS (
    SELECT id, previous FROM audit_entries WHERE id = $last
    UNION ALL
    SELECT entry.id, entry.previous FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous
  )
  DELETE FROM audit_entries WHERE id IN (SELECT id FROM chain)`
