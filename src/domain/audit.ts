// The audit log of a push: what is recorded about each visit.

import type { Account } from './account.ts'
import { authorityOf } from './web-address.ts'

export const AUDIT_KINDS = [
  ...(['creation', 'view', 'failed_view', 'failed_passphrase', 'owner_view', 'expire'] as const),
  /** Locked after too many wrong passphrases; unlocked by the owner. */
  ...(['lock', 'unlock'] as const),
  /** Its owner changed the name, the note or the limits. */
  'edit' as const,
  /** Only in logs that were imported: an administrator looked, or the link was sent by e-mail. */
  ...(['admin_view', 'creation_email_send'] as const),
]

export type AuditKind = (typeof AUDIT_KINDS)[number]

/** Where a request comes from. Unknown values are empty strings, never null. */
export type Visit = { ip: string; userAgent: string; referrer: string }

/** A visit, and the account that its token or session belongs to; null without one. */
export type Viewer = { account: Account | null; visit: Visit }

export type AuditEntry = Visit & { kind: AuditKind; at: number }

/** Bounds on entries that do not change the push, so that repeated requests cannot fill the disk. */
export const FIRST_FAILURES = 500
export const LATEST_FAILURES = 500
export const LATEST_OWNER_VIEWS = 500

export const MAX_USER_AGENT_CHARACTERS = 255
/** Of the origin that an entry keeps. */
export const MAX_REFERRER_CHARACTERS = 300
/** Of the header that is looked into: more than browsers send. */
const MAX_SENT_REFERRER_CHARACTERS = 2000

export const PAGE_SIZE = 50
export const MAX_PAGE = 200

export type Bound = 'failures' | 'owner_views'

/** The bound that entries of this kind fall under; null for entries that change the push, which are always kept. */
export function boundOf(kind: AuditKind): Bound | null {
  if (kind === 'owner_view') return 'owner_views'
  return kind === 'failed_view' || kind === 'failed_passphrase' ? 'failures' : null
}

/** Counts of a push's events. `auditEntries` counts the unbounded entries and the first failures. */
export type LogCounts = { auditEntries: number; failures: number; ownerViews: number }

/** The counts with one more entry. `bound` is set if only the latest entries of its kind are kept, null if all are. */
export function countEntry(
  { auditEntries, failures, ownerViews }: LogCounts,
  kind: AuditKind,
): { counts: LogCounts; bound: Bound | null } {
  const bound = boundOf(kind)
  if (bound === 'owner_views')
    return { bound, counts: { auditEntries, failures, ownerViews: ownerViews + 1 } }
  const all = bound === 'failures' ? failures + 1 : failures
  if (bound === 'failures' && all > FIRST_FAILURES)
    return { bound, counts: { auditEntries, failures: all, ownerViews } }
  return { bound: null, counts: { auditEntries: auditEntries + 1, failures: all, ownerViews } }
}

/** How many of these failures came after the first ones, which are always kept. */
export function countLate(failures: number): number {
  return Math.max(0, failures - FIRST_FAILURES)
}

/** The number of entries that the owner can read. */
export function countListed({ auditEntries, failures, ownerViews }: LogCounts): number {
  const late = Math.min(countLate(failures), LATEST_FAILURES)
  return auditEntries + late + Math.min(ownerViews, LATEST_OWNER_VIEWS)
}

/** The numbers of entries not kept: failures between the first and the latest, and earlier views by the owner. */
export function countMissing(log: Pick<LogCounts, 'failures' | 'ownerViews'>) {
  return {
    failures: Math.max(0, log.failures - FIRST_FAILURES - LATEST_FAILURES),
    ownerViews: Math.max(0, log.ownerViews - LATEST_OWNER_VIEWS),
  }
}

/** Keeps only the origin and `/`, because a full referrer could be a secret link. '' for a text that is too long. */
export function shortenReferrer(referrer: string): string {
  const sender = referrer.length > MAX_SENT_REFERRER_CHARACTERS ? null : authorityOf(referrer)
  const origin = sender === null ? '' : `${sender.origin}/`
  return origin.length > MAX_REFERRER_CHARACTERS ? '' : origin
}

export function shortenUserAgent(userAgent: string): string {
  // Half of a pair of surrogates is no character, and would be stored as another one.
  return userAgent.slice(0, MAX_USER_AGENT_CHARACTERS).replace(/[\ud800-\udbff]$/, '')
}
