// Removing pushes with all that belongs to them, in steps that leave room for requests. A long log goes a piece at a time.

import { inArray } from 'drizzle-orm'
import { DamageError } from '../../../domain/errors.ts'
import type { Now } from '../../../domain/time.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { auditEntries } from '../engine/schema.ts'
import type { AuditRows } from './audit-rows.ts'
import type { DoubtfulKeys } from './doubtful-keys.ts'
import { isIntactPush, type PushRow, type PushRows } from './push-rows.ts'

/** Entries of one log that are deleted in one step. */
const LOG_STEP = 1_000
/** Entries that are looked at in one step, where no chain leads to those that are wanted. */
const SCAN_STEP = 2_000
/** Pushes that are removed in one step after that. */
const PUSH_STEP = 100

/**
 * shortened: there was more of its log than fits one step. broken: its log is damaged, and has to be searched for with
 * `removeThoroughly`.
 */
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
   * For pushes whose own rows do not lead to all of their log: looks at every entry of every log. The pushes go last, so
   * that a process that ends meanwhile begins anew.
   */
  async function removeThoroughly(pushIds: readonly number[]): Promise<void> {
    if (pushIds.length === 0) return
    await removeEntriesOf(new Set(pushIds))
    for (let from = 0; from < pushIds.length; from += PUSH_STEP)
      await transact(() => pushIds.slice(from, from + PUSH_STEP).forEach(removeWithRest))
    await doubtfulKeys.idle()
  }

  /** Within a transaction. With the entries of visits that came while its log was searched for. */
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

  /** Removes those that are found damaged, also where their rows lead nowhere; returns those. */
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
