// Slots of a fixed size for what must vanish: the wrapped key of each live push, and the answers of idempotency keys.
//
// A slot is overwritten in place and never deleted. SQLite copies rows when it merges the pages of a table that shrinks,
// and leaves the copies behind between the rows: a value that had ever been moved could not be destroyed.

import type { Connection } from '../engine/database.ts'

const STEP = 512

export type Slots = ReturnType<typeof createSlots>
export type PushKeys = Slots

/** A table of slots, the column that holds the value, and the bytes of each value. */
export type SlotTable = { table: string; column: string; bytes: number }

export function createPushKeys(connection: Connection): PushKeys {
  return createSlots(connection, { table: 'push_keys', column: 'wrapped_key', bytes: 62 })
}

export function createSlots({ database }: Connection, { table, column, bytes }: SlotTable) {
  const fill = database.prepare<unknown, { slot: number; value: Uint8Array }>(
    `UPDATE ${table} SET ${column} = $value WHERE slot = $slot AND ${column} = zeroblob(${bytes})`,
  )
  const append = database.prepare<unknown, { value: Uint8Array }>(
    `INSERT INTO ${table} (${column}) VALUES ($value)`,
  )
  const wipe = database.prepare<unknown, { slot: number }>(
    `UPDATE ${table} SET ${column} = zeroblob(${bytes}) WHERE slot = $slot`,
  )
  const wiped = database.prepare<{ slot: number; isFree: number }, { after: number }>(
    `SELECT slot, ${column} = zeroblob(${bytes}) AS isFree FROM ${table} WHERE slot > $after ORDER BY slot LIMIT ${STEP}`,
  )
  // Slots that were free when they were seen: what was rolled back since, `fill` finds out.
  const free: number[] = []
  let searchedTo = 0
  let isSearched = false

  /** Into a free slot, or one more; returns its number. */
  function store(value: Uint8Array): number {
    if (free.length === 0 && !isSearched) searchOn()
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      if (fill.run({ slot, value }).changes === 1) return slot
    }
    return Number(append.run({ value }).lastInsertRowid)
  }

  /** Some slots further at a time, once through the table since the start: what is wiped later is noted then. */
  function searchOn(): void {
    const seen = wiped.all({ after: searchedTo })
    searchedTo = seen.at(-1)?.slot ?? searchedTo
    isSearched = seen.length < STEP
    for (const { slot, isFree } of seen) if (isFree === 1) free.push(slot)
  }

  /** Overwrites a value. */
  function destroy(slot: number): void {
    wipe.run({ slot })
    free.push(slot)
  }

  return { store, destroy }
}
