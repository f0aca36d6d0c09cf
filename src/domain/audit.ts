// The audit log of a push: what is written down about each visit.

import type { Account } from './account.ts'

export const AUDIT_KINDS = [
  ...(['creation', 'view', 'failed_view', 'failed_passphrase', 'owner_view', 'expire'] as const),
  /** After too many wrong passphrases, and by the owner. */
  ...(['lock', 'unlock'] as const),
]

export type AuditKind = (typeof AUDIT_KINDS)[number]

/** Who asks, from where. Strings, empty when unknown, never null. */
export type Visit = { ip: string; userAgent: string; referrer: string }

/** A visit and the account its API token belongs to, if it carried one. */
export type Viewer = { account: Account | null; visit: Visit }

export type AuditEntry = Visit & { kind: AuditKind; at: number }

/** Of entries that leave the push as it is so many are kept, so that nobody can fill the disk by knocking. */
export const FIRST_FAILURES = 500
export const LATEST_FAILURES = 500
export const LATEST_OWNER_VIEWS = 500

export const MAX_USER_AGENT_CHARACTERS = 255

export const PAGE_SIZE = 50
export const MAX_PAGE = 200

/** What entries of a kind share their room with; null for what always fits, which is whatever changes the push. */
export function boundOf(kind: AuditKind): 'failures' | 'owner_views' | null {
  if (kind === 'owner_view') return 'owner_views'
  return kind === 'failed_view' || kind === 'failed_passphrase' ? 'failures' : null
}

/** How much happened to a push; `auditEntries` is what always fits and the first failures. */
export type LogCounts = { auditEntries: number; failures: number; ownerViews: number }

/** Entries that its owner can read. */
export function countListed({ auditEntries, failures, ownerViews }: LogCounts): number {
  const late = Math.min(Math.max(0, failures - FIRST_FAILURES), LATEST_FAILURES)
  return auditEntries + late + Math.min(ownerViews, LATEST_OWNER_VIEWS)
}

/** Entries that are not kept: failures between the first and the latest, and an owner's earlier looks. */
export function countMissing(log: Pick<LogCounts, 'failures' | 'ownerViews'>) {
  return {
    failures: Math.max(0, log.failures - FIRST_FAILURES - LATEST_FAILURES),
    ownerViews: Math.max(0, log.ownerViews - LATEST_OWNER_VIEWS),
  }
}

/** Only the origin of a referrer and `/`: a whole one could be a secret link. */
export function shortenReferrer(referrer: string): string {
  const url = URL.canParse(referrer) ? new URL(referrer) : null
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? `${url.origin}/` : ''
}

export function shortenUserAgent(userAgent: string): string {
  return userAgent.slice(0, MAX_USER_AGENT_CHARACTERS)
}
