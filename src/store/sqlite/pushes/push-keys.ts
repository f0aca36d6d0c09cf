// Slots of a fixed size for values that must vanish: wrapped keys of live pushes, and answers of idempotency keys.
//
// A slot is overwritten in place and never deleted. Deleting rows makes SQLite merge pages, and copies of the moved rows
// stay in unused space, where they could not be destroyed.

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
  // Slots that were free when they were read. A rollback may have filled one again, which `fill` checks.
  const free: number[] = []
  let searchedTo = 0
  let isSearched = false

  /** Writes into a free slot, or a new one; returns its number. */
  function store(value: Uint8Array): number {
    if (free.length === 0 && !isSearched) searchOn()
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      if (fill.run({ slot, value }).changes === 1) return slot
    }
    return Number(append.run({ value }).lastInsertRowid)
  }

  /** Searches the next part of the table for free slots, once after the start. `destroy` adds those that become free later. */
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
