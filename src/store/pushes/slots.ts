// Slots of a fixed size for values that must vanish: wrapped keys of live pushes, and answers of idempotency
// keys.
//
// A slot is overwritten in place and never deleted. Where rows are deleted SQLite merges pages, and copies of
// the moved rows stay in unused space, where they could not be destroyed.

import { causing, locked, statement } from '../statements.ts'
import { first, run, type Step } from '../steps.ts'

type Slot = { slot: number }

/** Makes the operations on a table of slots: `column` holds values of `bytes` bytes each. */
export function createSlots({ table, column, bytes }: { table: string; column: string; bytes: number }) {
  const free = locked(
    statement<Slot>(`SELECT slot FROM ${table} WHERE is_free ORDER BY slot LIMIT 1`),
    'FOR UPDATE SKIP LOCKED',
  )
  const fill = statement(`UPDATE ${table} SET is_free = FALSE, ${column} = $2 WHERE slot = $1`)
  const append = statement(`INSERT INTO ${table} (is_free, ${column}) VALUES (FALSE, $1)`)
  const wipe = causing(
    'destroyed',
    statement(`UPDATE ${table} SET is_free = TRUE, ${column} = $2 WHERE slot = $1`),
  )
  const nothing = new Uint8Array(bytes)

  return {
    /** Finds a free slot for `store`; null if there is none. */
    find: () => first(free),
    /** Writes into the slot that was found, or into a new one, which is LAST_ID for the next statement. */
    store: (found: Slot | null, value: Uint8Array): Step<void> =>
      found === null ? run(append, value) : run(fill, found.slot, value),
    destroy: (slot: number) => run(wipe, slot, nothing),
  }
}
