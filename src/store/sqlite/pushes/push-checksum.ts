// The checksum of a push's row: a CRC of its values, and bits of its owner above it.

import { and, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { pushes } from '../engine/schema.ts'
import { checksumOf, isIntact, requireIntactRow } from '../integrity/row-checksum.ts'

export type PushRow = typeof pushes.$inferSelect

const CRC_BITS = 2 ** 32 - 1
const OWNER_BITS = 2 ** 20

/** For an update: the checksum without the bits of this owner. Leaves checksums with other bits as they are. */
export function checksumWithoutOwner(ownerId: number): SQL {
  return sql`CASE WHEN ${isSummedFor(ownerId)} THEN ${pushes.checksum} & ${CRC_BITS} ELSE ${pushes.checksum} END`
}

/** The pushes of this owner, without those whose owner was altered on disk. */
export function isOwnedBy(ownerId: number): SQL | undefined {
  return and(eq(pushes.ownerId, ownerId), or(isNull(pushes.checksum), isSummedFor(ownerId)))
}

function isSummedFor(ownerId: number): SQL {
  return sql`${pushes.checksum} >> 32 = ${ownerId % OWNER_BITS}`
}

/** Whether a push is as it was written. */
export function isIntactPush(row: PushRow): boolean {
  return isIntact(row, checksumOfPush(row))
}

/** Throws when a push was altered on disk. */
export function requireIntactPush(row: PushRow): void {
  requireIntactRow(row, checksumOfPush(row), `push ${row.id}`)
}

/** The owner is in bits above the CRC, so that one statement can make all pushes of an account anonymous. */
export function checksumOfPush(row: Omit<PushRow, 'checksum'>): number {
  const { id, lookup, keyNumber, kind, ownerId, createdAt, updatedAt, expiresAt } = row
  const { expireAfterDays, expireAfterViews, views, deletableByViewer, retrievalStep, passphraseRequired } =
    row
  const { wrongTries, wrongTriesSince, expiredOn, deleted, files, lastEntry, auditEntries, auditDropped } =
    row
  const {
    wrongTriesInAll,
    triesSpent,
    failures,
    ownerViews,
    edits,
    countedFailures,
    countedAt,
    countedFrom,
    lastViewedAt,
    lost,
  } = row
  // biome-ignore format: in the same lines as above
  const crc = checksumOf([
    id, lookup, keyNumber, kind, createdAt, updatedAt, expiresAt,
    expireAfterDays, expireAfterViews, views, deletableByViewer, retrievalStep, passphraseRequired,
    wrongTries, wrongTriesSince, expiredOn, deleted, files, lastEntry, auditEntries, auditDropped,
    wrongTriesInAll, triesSpent, failures, edits, ownerViews, countedFailures,
    lastViewedAt, lost, countedAt, countedFrom || 0,
  ])
  return ((ownerId ?? 0) % OWNER_BITS) * (CRC_BITS + 1) + crc
}
