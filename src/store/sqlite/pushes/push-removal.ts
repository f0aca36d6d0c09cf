// Removes pushes and everything that belongs to them, in steps between which requests run. A long log takes several steps.

import { inArray } from 'drizzle-orm'
import { DamageError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { auditEntries } from '../engine/schema.ts'
import type { AuditRows } from './audit-rows.ts'
import type { DoubtfulKeys } from './doubtful-keys.ts'
import { isIntactPush, type PushRow } from './push-checksum.ts'
import type { PushRows } from './push-rows.ts'

/** Entries of one log that are deleted in one step. */
const LOG_STEP = 1_000
/** Entries read in one step of a search through all logs. */
const SCAN_STEP = 2_000
/** Pushes removed in one step after such a search. */
const PUSH_STEP = 100

/** shortened: part of its log is left for another step. broken: its log is damaged and needs `removeThoroughly`. */
export type RemovalStep = 'removed' | 'shortened' | 'broken'

export type PushRemoval = ReturnType<typeof createPushRemoval>

export type PushRemovalOptions = {
  connection: Connection
  rows: Pick<PushRows, 'remove' | 'writeLog' | 'findRaw' | 'requireIntactSecrets'>
  audit: Pick<AuditRows, 'shorten'>
  doubtfulKeys: Pick<DoubtfulKeys, 'idle'>
  transact: Transact
  now: Now
}

export function createPushRemoval(options: PushRemovalOptions) {
  const { connection, rows, audit, doubtfulKeys, transact, now } = options
  const { orm, database } = connection
  const scan = database.prepare<{ id: number; pushId: number }, { after: number }>(
    `SELECT id, push_id AS pushId FROM audit_entries WHERE id > $after ORDER BY id LIMIT ${SCAN_STEP}`,
  )

  /** Within a transaction. */
  function removeStep(push: PushRow): RemovalStep {
    const left = isIntactPush(push) ? audit.shorten(push, LOG_STEP) : 'broken'
    if (left === 'broken') return 'broken'
    if (left !== null) {
      rows.writeLog(push, left)
      return 'shortened'
    }
    rows.remove(push.id, now())
    return 'removed'
  }

  /**
   * Removes pushes whose chains do not lead to all their log entries, by reading every entry of every log. Removes the pushes
   * last, so that an interrupted removal starts again.
   */
  async function removeThoroughly(pushIds: readonly number[]): Promise<void> {
    if (pushIds.length === 0) return
    await removeEntriesOf(new Set(pushIds))
    for (let from = 0; from < pushIds.length; from += PUSH_STEP)
      await transact(() => pushIds.slice(from, from + PUSH_STEP).forEach(removeWithRest))
    await doubtfulKeys.idle()
  }

  /** Within a transaction. Also removes entries of visits that came during the search. */
  function removeWithRest(pushId: number): void {
    const push = rows.findRaw(pushId)
    if (push === undefined) return
    audit.shorten(push, LOG_STEP)
    rows.remove(pushId, now())
  }

  async function removeEntriesOf(pushIds: ReadonlySet<number>): Promise<void> {
    for (let after = 0; ; ) {
      const seen = scan.all({ after })
      const found = seen.filter(({ pushId }) => pushIds.has(pushId)).map(({ id }) => id)
      if (found.length > 0)
        await transact(() => void orm.delete(auditEntries).where(inArray(auditEntries.id, found)).run())
      after = seen.at(-1)?.id ?? after
      if (seen.length < SCAN_STEP) return
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Removes those that are still damaged, with all that is left of their logs; returns their ids. */
  async function removeDamaged(pushIds: readonly number[]): Promise<number[]> {
    const damaged = pushIds.filter((id) => rows.findRaw(id) !== undefined && isDamaged(id))
    await removeThoroughly(damaged)
    return damaged
  }

  function isDamaged(id: number): boolean {
    try {
      rows.requireIntactSecrets({ id })
      return false
    } catch (cause) {
      if (cause instanceof DamageError) return true
      throw cause
    }
  }

  return { removeStep, removeThoroughly, removeDamaged }
}
