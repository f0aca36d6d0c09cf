// The audit log of a push as its row counts it: appends entries in memory, before both are written in one statement.

import {
  type AuditKind,
  type Bound,
  countEntry,
  countLate,
  LATEST_FAILURES,
  LATEST_OWNER_VIEWS,
  type LogCounts,
  type Visit,
} from '../../../domain/audit.ts'
import type { RowOf } from '../schema/rows.ts'
import type { auditEntries } from '../schema/schema.ts'

export type EntryRow = RowOf<typeof auditEntries>
export type NewEntry = { kind: AuditKind; at: number; visit: Visit }

/** `entries` counts all entries ever appended, and is the number of the next one. */
export type PushLog = LogCounts & { id: number; entries: number }

export const EMPTY_LOG = { entries: 0, auditEntries: 0, failures: 0, ownerViews: 0 }

/** Entries beyond a bound that may accumulate, so that one statement deletes many of them. */
const SLACK = 250

/** Returns a copy of the push with its log as it is then, and the row of the entry. */
export function appendEntry<P extends PushLog>(push: P, entry: NewEntry): { push: P; row: EntryRow } {
  const { counts, bound } = countEntry(push, entry.kind)
  return { push: { ...push, ...counts, entries: push.entries + 1 }, row: rowOf(push, entry, bound) }
}

function rowOf({ id, entries }: PushLog, { kind, at, visit }: NewEntry, bound: EntryRow['bound']): EntryRow {
  const { ip, userAgent, referrer } = visit
  return {
    pushId: id,
    n: entries,
    bound,
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

/** Deletes the stored entries of a push under a bound, except the latest `keep`. */
export type Cut = { pushId: number; bound: Bound; keep: number }

/** The cuts that are due once the log has grown from `before` to `after`. */
export function cutsOf(before: PushLog, after: PushLog): Cut[] {
  const failures = { from: countLate(before.failures), to: countLate(after.failures), most: LATEST_FAILURES }
  const ownerViews = { from: before.ownerViews, to: after.ownerViews, most: LATEST_OWNER_VIEWS }
  return [
    ...cutOf(before.id, { bound: 'failures', ...failures }),
    ...cutOf(before.id, { bound: 'owner_views', ...ownerViews }),
  ]
}

/** `keep` does not count the entries that the same statement appends, because it does not see them. */
function cutOf(
  pushId: number,
  { bound, from, to, most }: { bound: Bound; from: number; to: number; most: number },
): Cut[] {
  const stepsOver = (length: number) => Math.floor((length - most) / SLACK)
  const isDue = to > most && stepsOver(to) > Math.max(0, stepsOver(from))
  return isDue ? [{ pushId, bound, keep: Math.max(0, most - (to - from)) }] : []
}
