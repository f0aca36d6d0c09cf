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

export type ScrubOptions = {
  connection: Connection
  rows: Pick<PushRows, 'requireIntactSecrets' | 'removeDamaged'>
  transact: Transact
  now: Now
  damage: Pick<Damage, 'tell' | 'tellNumber' | 'presentIntact'>
  /** For who has no backup to restore: damaged pushes go, with all that belongs to them. */
  removeDamaged: boolean
  onWarning: (warning: string) => void
}

export function startScrub(options: ScrubOptions): { stop(): Promise<void> } {
  const { connection, rows, transact, now, damage, removeDamaged, onWarning } = options
  let isStopped = false

  async function run(): Promise<void> {
    await readThrough(accounts, async (some) => void damage.presentIntact(some, presentAccount))
    await readThrough(pushes, readPushes)
    await readThrough(auditEntries, async (some) => void damage.presentIntact(some, requireIntactEntry))
    damage.tellNumber()
    if (removeDamaged && !isStopped) onWarning('The pushes that were found damaged are removed.')
  }

  async function readPushes(some: PushRow[]): Promise<void> {
    const intact = damage.presentIntact(some, (push) => {
      rows.requireIntactSecrets(push)
      return push
    })
    if (!removeDamaged || intact.length === some.length) return
    for (const { id } of some.filter((push) => !intact.includes(push))) {
      if (await transact(() => rows.removeDamaged(id, now())))
        onWarning(`push ${id} was damaged and is removed`)
    }
  }

  async function readThrough<T extends SQLiteTable & { id: SQLiteColumn }>(
    table: T,
    look: (some: T['$inferSelect'][]) => Promise<void>,
  ): Promise<void> {
    const read = prepareWalk(connection.database, table, STEP)
    for (let last = 0; !isStopped; await Bun.sleep(PAUSE_MS)) {
      const some = read(last)
      await look(some).catch(damage.tell)
      if (some.length < STEP) return
      last = Number(some.at(-1)?.id)
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
