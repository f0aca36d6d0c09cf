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

/** More entries than this are only counted, so that nobody can fill the disk by knocking. */
export const MAX_AUDIT_ENTRIES = 10_000

export const MAX_USER_AGENT_CHARACTERS = 255

export const PAGE_SIZE = 50
export const MAX_PAGE = 200

/** The last place of the log is kept for the entry that says who expired the push. */
export function hasRoom(kind: AuditKind, entries: number): boolean {
  return entries < (kind === 'expire' ? MAX_AUDIT_ENTRIES : MAX_AUDIT_ENTRIES - 1)
}

/** Only the origin of a referrer and `/`: a whole one could be a secret link. */
export function shortenReferrer(referrer: string): string {
  const url = URL.canParse(referrer) ? new URL(referrer) : null
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') ? `${url.origin}/` : ''
}

export function shortenUserAgent(userAgent: string): string {
  return userAgent.slice(0, MAX_USER_AGENT_CHARACTERS)
}
