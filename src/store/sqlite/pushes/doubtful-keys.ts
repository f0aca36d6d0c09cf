// Key slots whose numbers come from damaged rows, and which may belong to another push. A slot is overwritten only after a
// search, a few pushes at a time, has shown that no other push names it.

import type { Connection } from '../engine/database.ts'
import type { Transact } from '../engine/group-commit.ts'
import type { PushKeys } from './push-keys.ts'

const STEP = 2_000

export type DoubtfulKeys = ReturnType<typeof createDoubtfulKeys>

export type DoubtfulKeysOptions = {
  connection: Connection
  keys: Pick<PushKeys, 'destroy'>
  transact: Transact
  /** Called after a key was overwritten. */
  onDestroyed: () => void
  onError: (cause: unknown) => void
}

export function createDoubtfulKeys(options: DoubtfulKeysOptions) {
  const { keys, transact, onDestroyed, onError } = options
  const { database } = options.connection
  const named = database.prepare<{ pushId: number; keySlot: number }, { after: number }>(
    `SELECT push_id AS pushId, key_slot AS keySlot FROM push_secrets WHERE push_id > $after ORDER BY push_id LIMIT ${STEP}`,
  )
  let waiting = new Set<number>()
  let running: Promise<void> | null = null

  /** Called within the transaction that deletes the row, which may be undone and run again. */
  function note(slot: number): void {
    waiting.add(slot)
    running ??= settleAll()
      .catch(onError)
      .finally(() => (running = null))
  }

  async function settleAll(): Promise<void> {
    await nextTurn()
    while (waiting.size > 0) {
      const slots = waiting
      waiting = new Set()
      await settle(slots)
    }
  }

  /** Keeps slots that a push names. */
  async function settle(slots: Set<number>): Promise<void> {
    let after = 0
    for (let seen = drop(slots, after); seen.isFull; seen = drop(slots, after)) {
      after = seen.last
      await nextTurn()
    }
    await transact(() => {
      // A push created meanwhile may have taken a slot that became free.
      for (let seen = drop(slots, after); seen.isFull; ) seen = drop(slots, seen.last)
      for (const slot of slots) keys.destroy(slot)
    })
    onDestroyed()
  }

  /** Drops the slots that the next pushes after `after` name. */
  function drop(slots: Set<number>, after: number): { last: number; isFull: boolean } {
    const some = named.all({ after })
    for (const { keySlot } of some) slots.delete(keySlot)
    return { last: some.at(-1)?.pushId ?? after, isFull: some.length === STEP }
  }

  return {
    note,
    /** Resolves when no slot is in doubt. */
    idle: async (): Promise<void> => void (await running),
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
