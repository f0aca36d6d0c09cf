// Used idempotency keys and their sealed answers. An answer is destroyed when its push ends; the key stays marked as used
// until it lapses.

import { asc, eq, lte, sql } from 'drizzle-orm'
import type { Now } from '../../../domain/time.ts'
import { usedIdempotencyKey } from '../../every-engine/refusals.ts'
import type { IdempotencyStore, KeyToStore } from '../../face.ts'
import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import { placeholdersOf } from '../engine/placeholders.ts'
import { idempotencyKeys } from '../engine/schema.ts'
import { checksumOf, isIntact, requireIntactRow } from '../integrity/row-checksum.ts'
import { createSlots } from './push-keys.ts'

type KeyRow = typeof idempotencyKeys.$inferSelect

export type IdempotencyRows = ReturnType<typeof createIdempotencyRows>

const STEP = 100
const ANSWERS = { table: 'idempotency_answers', column: 'answer', bytes: 88 }

/** Every function must run within a transaction. Calls `onDestroyed` when an answer was destroyed. */
export function createIdempotencyRows(connection: Connection, onDestroyed: () => void) {
  const { orm, database } = connection
  const slots = createSlots(connection, ANSWERS)
  const lookup = sql.placeholder('lookup')
  const byLookup = orm.select().from(idempotencyKeys).where(eq(idempotencyKeys.lookup, lookup)).prepare()
  // Runs whenever a push ends; plain SQL is faster than drizzle's statements.
  const ofPush = database.prepare<KeyRow, { pushId: number }>(
    'SELECT lookup, lapses_at AS lapsesAt, push_id AS pushId, slot, checksum FROM idempotency_keys WHERE push_id = $pushId',
  )
  const answerIn = database.prepare<{ answer: Uint8Array }, { slot: number }>(
    'SELECT answer FROM idempotency_answers WHERE slot = $slot',
  )
  // Scans the table, only for the rare damaged row.
  const countSlot = database.prepare<{ n: number }, { slot: number }>(
    'SELECT count(*) AS n FROM idempotency_keys WHERE slot = $slot',
  )
  const insertKey = orm.insert(idempotencyKeys).values(placeholdersOf(idempotencyKeys)).prepare()
  const deleteKey = orm.delete(idempotencyKeys).where(eq(idempotencyKeys.lookup, lookup)).prepare()
  const lapsed = orm
    .select()
    .from(idempotencyKeys)
    .where(lte(idempotencyKeys.lapsesAt, sql.placeholder('until')))
    .orderBy(asc(idempotencyKeys.lapsesAt))
    .limit(STEP)
    .prepare()

  /** Null for a key that was not used or has lapsed. */
  function find(wanted: Uint8Array, now: number): { answer: Uint8Array | null } | null {
    const row = byLookup.get({ lookup: wanted })
    if (row === undefined || row.lapsesAt <= now) return null
    requireIntactRow(row, checksumOfKey(row), 'an idempotency key')
    return { answer: row.slot === null ? null : (answerIn.get({ slot: row.slot })?.answer ?? null) }
  }

  /** Throws `conflict` for a key that was used meanwhile. */
  function insert({ lookup, lapsesAt, answer }: KeyToStore, of: { pushId: number; now: number }): void {
    const before = byLookup.get({ lookup })
    if (before !== undefined) {
      if (before.lapsesAt > of.now) throw usedIdempotencyKey()
      remove(before)
    }
    write({ lookup, lapsesAt, pushId: of.pushId, slot: slots.store(answer) })
  }

  function write(row: Omit<KeyRow, 'checksum'>): void {
    insertKey.run({ ...row, checksum: checksumOfKey(row) })
  }

  /** Overwrites the answer of a push that has ended. */
  function forgetAnswerOf(pushId: number): void {
    const row = ofPush.get({ pushId })
    if (row === null) return
    remove(row)
    write({ lookup: row.lookup, lapsesAt: row.lapsesAt, pushId: null, slot: null })
  }

  function remove(row: KeyRow): void {
    destroyAnswer(row)
    deleteKey.run({ lookup: row.lookup })
  }

  /** Leaves the slot alone if its number was altered on disk, because it may be another key's. */
  function destroyAnswer(row: KeyRow): void {
    const { slot } = row
    if (slot === null) return
    if (isIntact(row, checksumOfKey(row)) || countSlot.get({ slot })?.n === 1) slots.destroy(slot)
    onDestroyed()
  }

  /** Removes some lapsed keys; returns how many. */
  function removeLapsed(now: number): number {
    const some = lapsed.all({ until: now })
    for (const row of some) remove(row)
    return some.length
  }

  return { find, insert, forgetAnswerOf, removeLapsed }
}

export function createIdempotencyKeys(options: {
  idempotency: IdempotencyRows
  transact: Transact
  now: Now
  /** The time by which something may be destroyed. */
  certain: Now
}): IdempotencyStore {
  const { idempotency, transact, now, certain } = options
  return {
    findKey: async (lookup) => idempotency.find(lookup, now()),
    removeLapsed: () => transact(() => idempotency.removeLapsed(certain())),
  }
}

function checksumOfKey({ lookup, lapsesAt, pushId, slot }: Omit<KeyRow, 'checksum'>): number {
  return checksumOf([lookup, lapsesAt, pushId, slot])
}
