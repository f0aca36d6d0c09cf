// Reads every row that carries a checksum once after the start, a few at a time: damage is told to the operator before
// somebody asks for what it has hit. Rows that are asked for meanwhile are checked anyway.

import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Now } from '../domain/time.ts'
import { presentAccount } from './account-rows.ts'
import { requireIntactEntry } from './audit-rows.ts'
import type { Damage } from './damage.ts'
import type { Connection } from './database.ts'
import type { Transact } from './group-commit.ts'
import { prepareWalk } from './prepared.ts'
import type { PushRow, PushRows } from './push-rows.ts'
import { accounts, auditEntries, pushes } from './schema.ts'

const DELAY_MS = 1_000
const STEP = 200
/** Between steps: a hundredth of a core at most, and hardly a page of what others keep in the cache. */
const PAUSE_MS = 25
/** Of more rows the number is told, not each. */
const MAX_TOLD = 10

export type ScrubOptions = {
  connection: Connection
  rows: Pick<PushRows, 'requireIntactSecrets' | 'remove'>
  transact: Transact
  now: Now
  damage: Pick<Damage, 'tell'>
  /** For who has no backup to restore: damaged pushes go, with all that belongs to them. */
  removeDamaged: boolean
}

export function startScrub(options: ScrubOptions): { stop(): Promise<void> } {
  const { connection, rows, transact, now, damage, removeDamaged } = options
  let isStopped = false
  let damaged = 0

  async function run(): Promise<void> {
    await readThrough(accounts, presentAccount)
    await readThrough(pushes, rows.requireIntactSecrets, removeDamaged ? remove : undefined)
    await readThrough(auditEntries, requireIntactEntry)
    if (damaged > MAX_TOLD) damage.tell(new Error(`the database is damaged in ${damaged} rows altogether`))
  }

  function remove(push: PushRow): Promise<void> {
    return transact(() => rows.remove(push, now()))
  }

  /** `check` throws for a row that is not as it was written; with that `mend` deals. */
  async function readThrough<T extends SQLiteTable & { id: SQLiteColumn }>(
    table: T,
    check: (row: T['$inferSelect']) => void,
    mend: (row: T['$inferSelect']) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const read = prepareWalk(connection.database, table, STEP)
    for (let last = 0; !isStopped; await Bun.sleep(PAUSE_MS)) {
      const some = tryRow(() => read(last)) ?? []
      for (const row of some) if (tryRow(() => check(row)) === null) await mend(row)
      if (some.length < STEP) return
      last = Number(some.at(-1)?.id)
    }
  }

  function tryRow<Result>(work: () => Result): Result | null {
    try {
      return work()
    } catch (cause) {
      damaged += 1
      if (damaged <= MAX_TOLD) damage.tell(cause)
      return null
    }
  }

  let running: Promise<void> | null = null
  const timer = setTimeout(() => {
    running = run().catch(damage.tell)
  }, DELAY_MS)
  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    await running
  }
  return { stop }
}
