// Chains of audit entries: each entry names the one before it; the push stores the id of its last entry.
//
// Entries are appended to one table in the order of time, so that the visits of a batch share a page or two. With a table
// or an index ordered by push, each visit would rewrite a page of its own. Only every hundredth entry of a push is indexed,
// so that reading a late page of a long chain does not start at its end.

import { max } from 'drizzle-orm'
import type { AuditKind, Visit } from '../../../domain/audit.ts'
import { DamageError } from '../../../domain/errors.ts'
import type { Connection } from '../engine/database.ts'
import { prepareInsert } from '../engine/prepared.ts'
import { auditEntries } from '../engine/schema.ts'
import { checksumOf, requireIntactRow } from '../integrity/row-checksum.ts'

export type EntryRow = typeof auditEntries.$inferSelect

export type Chain = { pushId: number; last: number | null; length: number }

/** A range of entry numbers within the chain; excludes `to`. */
export type Span = { from: number; to: number }

export type NewEntry = { kind: AuditKind; at: number; visit: Visit }

const MARK_EVERY = 100

export type AuditChains = ReturnType<typeof createAuditChains>

export function createAuditChains({ orm, database }: Connection) {
  const insert = prepareInsert(database, auditEntries)
  type Walk = { pushId: number; last: number; from: number }
  const span = database.prepare<EntryRow, Walk & { to: number }>(SPAN)
  const previous = database.prepare<{ previous: number | null }, Walk>(PREVIOUS)
  const removeBack = database.prepare<unknown, Walk>(REMOVE_BACK)
  const mark = database.prepare<{ id: number }, { pushId: number; n: number }>(MARK)
  let lastId =
    orm
      .select({ id: max(auditEntries.id) })
      .from(auditEntries)
      .get()?.id ?? 0

  /** Returns the id of the new last entry. Only the serving process appends, so it can keep the next id in memory. */
  function append({ pushId, last, length }: Chain, { kind, at, visit }: NewEntry): number {
    lastId += 1
    const { ip, userAgent, referrer } = visit
    const entry = { id: lastId, pushId, n: length, previous: last, kind, at, ip, userAgent, referrer }
    insert({ ...entry, checksum: checksumOfEntry(entry) })
    return lastId
  }

  /** Oldest first. Throws when an entry is missing or was altered on disk. */
  function read(chain: Chain, { from, to }: Span): EntryRow[] {
    const { pushId, last } = chain
    if (last === null || from >= to) return []
    const rows = span.all({ pushId, last: findStart(chain, to) ?? last, from, to })
    if (rows.length !== to - from) throw new DamageError(`the audit log of push ${pushId}`)
    for (const row of rows) requireIntactEntry(row)
    return rows
  }

  /** An indexed entry that is nearer to `to` than the last entry is. */
  function findStart({ pushId, length }: Chain, to: number): number | undefined {
    return length - to > MARK_EVERY ? mark.get({ pushId, n: to - 1 })?.id : undefined
  }

  /** Deletes the newest entries, back to this number; returns how many there were, and the entry before them. */
  function removeFrom({ pushId, last }: Chain, from: number): { removed: number; last: number | null } {
    if (last === null) return { removed: 0, last: null }
    const before = previous.get({ pushId, last, from })?.previous ?? null
    return { removed: removeBack.run({ pushId, last, from }).changes, last: before }
  }

  return { append, read, removeFrom }
}

/** Throws when an entry was altered on disk. */
export function requireIntactEntry(row: EntryRow): void {
  requireIntactRow(row, checksumOfEntry(row), `entry ${row.id} of the audit log`)
}

function checksumOfEntry(entry: Omit<EntryRow, 'checksum'>): number {
  const { id, pushId, n, previous, kind, at, ip, userAgent, referrer } = entry
  return checksumOf([id, pushId, n, previous, kind, at, ip, userAgent, referrer])
}

// Every query names the push, so that a damaged entry cannot lead into another push's log.
const WALK = `
  WITH RECURSIVE chain(id, previous, n) AS (
    SELECT id, previous, n FROM audit_entries WHERE id = $last AND push_id = $pushId
    UNION ALL
    SELECT entry.id, entry.previous, entry.n FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous
    WHERE chain.n > $from AND entry.push_id = $pushId AND entry.n < chain.n
  )`

const SPAN = `
  WITH RECURSIVE chain AS (
    SELECT * FROM audit_entries WHERE id = $last AND push_id = $pushId
    UNION ALL
    SELECT entry.* FROM chain JOIN audit_entries AS entry ON entry.id = chain.previous
    WHERE chain.n > $from AND entry.push_id = $pushId AND entry.n < chain.n
  )
  SELECT id, push_id AS pushId, n, previous, kind, at, ip, user_agent AS userAgent, referrer, checksum
  FROM chain WHERE n >= $from AND n < $to ORDER BY n`

const PREVIOUS = `${WALK} SELECT previous FROM chain WHERE n = $from`
const REMOVE_BACK = `${WALK} DELETE FROM audit_entries WHERE id IN (SELECT id FROM chain WHERE n >= $from)`

// Repeats the condition of the partial index word for word: otherwise SQLite does not use it.
const MARK = `
  SELECT id FROM audit_entries
  WHERE push_id = $pushId AND n >= $n
    AND n > 0 AND n % ${MARK_EVERY} = 0
  ORDER BY n LIMIT 1`
