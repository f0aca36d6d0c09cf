// The audit log of a push as its row counts it: appends entries in memory, before both are written in one statement.

import {
  type AuditKind,
  countEntry,
  EMPTY_COUNTS,
  type LogCounts,
  type Visit,
} from '../../../domain/audit.ts'
import type { RowOf } from '../schema/rows.ts'
import type { auditEntries } from '../schema/schema.ts'

export type EntryRow = RowOf<typeof auditEntries>
export type NewEntry = { kind: AuditKind; at: number; visit: Visit }

/** `entries` is the number of the next entry. */
export type PushLog = LogCounts & { id: number; ownerId: number | null; entries: number }

export const EMPTY_LOG = { ...EMPTY_COUNTS, entries: 0 }

/** Returns a copy of the push with its log as it is then, and the row of the entry; null when it is only counted. */
export function appendEntry<P extends PushLog>(push: P, entry: NewEntry): { push: P; row: EntryRow | null } {
  const { ownerId, entries } = push
  // The disk of the server has no floor: once it is full, PostgreSQL refuses everything that grows.
  const { counts, isKept } = countEntry(push, entry, { ownerId, hasRoom: true })
  if (!isKept) return { push: { ...push, ...counts }, row: null }
  return { push: { ...push, ...counts, entries: entries + 1 }, row: rowOf(push, entry) }
}

function rowOf({ id, entries }: PushLog, { kind, at, visit }: NewEntry): EntryRow {
  const { ip, userAgent, referrer } = visit
  return {
    pushId: id,
    n: entries,
    kind,
    at,
    ip: storableText(ip),
    userAgent: storableText(userAgent),
    referrer: storableText(referrer),
  }
}

/** PostgreSQL refuses text with U+0000. */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}
