// The audit log of a push: the records of its visits, and which of them are kept.

import { authorityOf } from '../text/web-address.ts'
import type { Account } from './account.ts'

export const AUDIT_KINDS = [
  ...(['creation', 'view', 'failed_view', 'failed_passphrase', 'owner_view', 'expire'] as const),
  /** lock: after too many wrong passphrases. unlock: by the owner. */
  ...(['lock', 'unlock'] as const),
  /** The owner changed the name, the note or the limits. */
  'edit' as const,
  /** The link was sent by mail. */
  'creation_email_send' as const,
  /** Imported logs only: an administrator opened the push. */
  'admin_view' as const,
]

export type AuditKind = (typeof AUDIT_KINDS)[number]

/** The texts recorded about a visit. Unknown ones are empty, never null. */
type VisitTexts = { ip: string; userAgent: string; referrer: string }

declare const bounded: unique symbol
/** The origin of a request. Only `visitFrom` makes one, so every text fits its database column. */
export type Visit = VisitTexts & { readonly [bounded]: true }

/** A visit, and the account that its token or session belongs to; null without one. */
export type Viewer = { account: Account | null; visit: Visit }

export type AuditEntry = VisitTexts & { kind: AuditKind; at: number }

/** An entry of another server's log. */
export type EntryToImport = Visit & { kind: AuditKind; at: number }

/** The longest text of an IPv6 address, which is one that ends with an IPv4 address. */
const MAX_IP_CHARACTERS = 45
const MAX_USER_AGENT_CHARACTERS = 255
/** The maximum length of the origin that an entry keeps. */
const MAX_REFERRER_CHARACTERS = 300
/** The longest Referer header that is parsed: more than browsers send. */
const MAX_SENT_REFERRER_CHARACTERS = 2000

/** Shortens the texts of a request. `userAgent` and `referrer` are the headers as sent. */
export function visitFrom({ ip, userAgent, referrer }: VisitTexts): Visit {
  const texts: VisitTexts = {
    ip: ip.slice(0, MAX_IP_CHARACTERS),
    userAgent: shortenUserAgent(userAgent),
    referrer: shortenReferrer(referrer),
  }
  return texts as Visit
}

/** The most bytes that an entry takes on disk, without its index. */
export const MAX_ENTRY_BYTES = 1024

/**
 * How many entries of each limited kind the log keeps. They do not change the push, so they must not fill the
 * disk.
 */
const FIRST_ENTRIES = 500

export const PAGE_SIZE = 50
export const MAX_PAGE = 200

type Bound = 'failures' | 'ownerViews' | 'edits'

/** Returns the bound of this kind of entry; null for entries that are always kept. */
export function boundOf(kind: AuditKind): Bound | null {
  if (kind === 'owner_view') return 'ownerViews'
  if (kind === 'edit' || kind === 'creation_email_send') return 'edits'
  return kind === 'failed_view' || kind === 'failed_passphrase' ? 'failures' : null
}

export type LogCounts = {
  /** Entries in the log. */
  auditEntries: number
  failures: number
  ownerViews: number
  edits: number
  /** Failures that are only counted, not in the log. */
  countedFailures: number
  /**
   * The time and address of the latest visit that was counted without an entry; 0 and '' if there was none.
   */
  countedAt: number
  countedFrom: string
}

export const EMPTY_COUNTS: LogCounts = {
  ...{ auditEntries: 0, failures: 0, ownerViews: 0, edits: 0 },
  ...{ countedFailures: 0, countedAt: 0, countedFrom: '' },
}

/** The push's owner, who alone can read the log, and whether the disk has room for another failure. */
export type LogPlace = { ownerId: number | null; hasRoom: boolean }

export type NewEntry = { kind: AuditKind; at: number; visit: VisitTexts }

/** Returns the counts after a visit, and whether the visit gets an entry or is only counted. */
export function countEntry<Counts extends LogCounts>(
  counts: Counts,
  { kind, at, visit }: NewEntry,
  place: LogPlace,
): { counts: Counts; isKept: boolean } {
  const bound = boundOf(kind)
  const { auditEntries } = counts
  if (bound === null) return { counts: { ...counts, auditEntries: auditEntries + 1 }, isKept: true }
  const counted = { ...counts, [bound]: counts[bound] + 1 }
  if (hasPlace(counts, bound, place))
    return { counts: { ...counted, auditEntries: auditEntries + 1 }, isKept: true }
  const countedFailures = counts.countedFailures + (bound === 'failures' ? 1 : 0)
  return { counts: { ...counted, countedFailures, countedAt: at, countedFrom: visit.ip }, isKept: false }
}

function hasPlace(counts: LogCounts, bound: Bound, { ownerId, hasRoom }: LogPlace): boolean {
  if (bound !== 'failures') return counts[bound] < FIRST_ENTRIES
  return ownerId !== null && hasRoom && counts.failures - counts.countedFailures < FIRST_ENTRIES
}

/** Returns the entries of a whole log that are kept. */
export function keptOf<Entry extends AuditEntry>(entries: readonly Entry[], place: LogPlace): Entry[] {
  let counts = EMPTY_COUNTS
  return entries.filter((entry) => {
    const counted = countEntry(counts, { ...entry, visit: entry }, place)
    counts = counted.counts
    return counted.isKept
  })
}

/** Returns the numbers of visits that are not in the log, and the time and address of the latest of them. */
export function countMissing({ countedFailures, ownerViews, edits, countedAt, countedFrom }: LogCounts) {
  return {
    failures: countedFailures,
    ownerViews: Math.max(0, ownerViews - FIRST_ENTRIES),
    edits: Math.max(0, edits - FIRST_ENTRIES),
    latest: { at: countedAt, ip: countedFrom },
  }
}

/**
 * Keeps only the origin and `/`, because a full referrer could be a secret link. Returns '' if it is too
 * long.
 */
export function shortenReferrer(referrer: string): string {
  // Skip the parsing: most visits have no referrer.
  if (referrer === '' || referrer.length > MAX_SENT_REFERRER_CHARACTERS) return ''
  const sender = authorityOf(referrer)
  const origin = sender === null ? '' : `${sender.origin}/`
  return origin.length > MAX_REFERRER_CHARACTERS ? '' : origin
}

/** A lone surrogate, which a cut may leave and which would be stored as another character. */
const HALF_AT_END = /[\ud800-\udbff]$/

function shortenUserAgent(userAgent: string): string {
  return userAgent.slice(0, MAX_USER_AGENT_CHARACTERS).replace(HALF_AT_END, '')
}
