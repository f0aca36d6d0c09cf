// The wrapped key of each live push, in a slot of a fixed size.
//
// A slot is overwritten in place and never deleted. SQLite copies rows when it merges the pages of a table that shrinks,
// and leaves the copies behind between the rows: a key that had ever been moved could not be destroyed.

import type { Connection } from './database.ts'

const STEP = 512

export type PushKeys = ReturnType<typeof createPushKeys>

export function createPushKeys({ database }: Connection) {
  const fill = database.prepare<unknown, { slot: number; wrappedKey: Uint8Array }>(
    'UPDATE push_keys SET wrapped_key = $wrappedKey WHERE slot = $slot AND wrapped_key = zeroblob(62)',
  )
  const append = database.prepare<unknown, { wrappedKey: Uint8Array }>(
    'INSERT INTO push_keys (wrapped_key) VALUES ($wrappedKey)',
  )
  const wipe = database.prepare<unknown, { slot: number }>(
    'UPDATE push_keys SET wrapped_key = zeroblob(62) WHERE slot = $slot',
  )
  const wiped = database.prepare<{ slot: number; isFree: number }, { after: number }>(
    `SELECT slot, wrapped_key = zeroblob(62) AS isFree FROM push_keys WHERE slot > $after ORDER BY slot LIMIT ${STEP}`,
  )
  // Slots that were free when they were seen: what was rolled back since, `fill` finds out.
  const free: number[] = []
  let searchedTo = 0

  /** Into a free slot, or one more; returns its number. */
  function store(wrappedKey: Uint8Array): number {
    if (free.length === 0) searchOn()
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      if (fill.run({ slot, wrappedKey }).changes === 1) return slot
    }
    return Number(append.run({ wrappedKey }).lastInsertRowid)
  }

  /** Some slots further at a time, once through the table since the start: what is wiped later is noted then. */
  function searchOn(): void {
    const seen = wiped.all({ after: searchedTo })
    searchedTo = seen.at(-1)?.slot ?? searchedTo
    for (const { slot, isFree } of seen) if (isFree === 1) free.push(slot)
  }

  /** Overwrites a key. */
  function destroy(slot: number): void {
    wipe.run({ slot })
    free.push(slot)
  }

  return { store, destroy }
}
