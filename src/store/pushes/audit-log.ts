// The audit log of each push: numbered entries, appended one after another by whoever holds the lock of the push.

import {
  type AuditEntry,
  countEntry,
  type LogCounts,
  type LogPlace,
  type NewEntry,
  PAGE_SIZE,
} from '../../domain/audit.ts'
import type { AuditStore } from '../face.ts'
import { addTo, type RowOf, select } from '../statements.ts'
import { all, first, type Step, type Steps } from '../steps.ts'
import { auditEntries, pushState } from '../tables.ts'

/** Entries in one piece of `readAll`. */
const PIECE = 1_000

const SPAN = select(auditEntries, 'WHERE push_id = $1 AND n >= $2 AND n < $3 ORDER BY n')
const STATE = select(pushState, 'WHERE push_id = $1')
const add = addTo(auditEntries)

/** The log of a push that was purged meanwhile is empty. */
export function createAuditLog({ read }: Pick<Steps, 'read'>): AuditStore {
  async function readSpan(id: number, from: number, to: number): Promise<AuditEntry[]> {
    return (await read(() => all(SPAN, id, from, to))).map(presentEntry)
  }

  /** Ends with the entry that is the last one when the reading begins, however fast others follow. */
  async function* readAll({ id }: { id: number }): AsyncGenerator<AuditEntry[]> {
    const length = (await read(() => first(STATE, id)))?.auditEntries ?? 0
    for (let from = 0; from < length; from += PIECE) {
      const piece = await readSpan(id, from, Math.min(from + PIECE, length))
      if (piece.length > 0) yield piece
    }
  }

  return {
    listPage: ({ id }, pageNumber) => readSpan(id, (pageNumber - 1) * PAGE_SIZE, pageNumber * PAGE_SIZE),
    readAll,
  }
}

/** Whether the disk has room for entries that may be left out. */
export type Room = Pick<LogPlace, 'hasRoom'>

/** The push with its counts as they are after a visit, and the step that adds the entry; null for one that is only counted. */
export function appending<P extends LogCounts & { id: number; ownerId: number | null }>(
  push: P,
  entry: NewEntry,
  { hasRoom }: Room,
): { push: P; add: Step<void> | null } {
  const { counts, isKept } = countEntry(push, entry, { ownerId: push.ownerId, hasRoom })
  if (!isKept) return { push: counts, add: null }
  const { kind, at, visit } = entry
  const row = {
    pushId: push.id,
    n: push.auditEntries,
    kind,
    at,
    ip: plain(visit.ip),
    userAgent: plain(visit.userAgent),
    referrer: plain(visit.referrer),
  }
  return { push: counts, add: add(row) }
}

/** PostgreSQL takes no text with U+0000. */
function plain(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

function presentEntry({ pushId: _, n: __, ...entry }: RowOf<typeof auditEntries>): AuditEntry {
  return entry
}
