// Reads every row that carries a checksum once after the start, a few at a time: damage is told to the operator before
// somebody asks for what it has hit. Rows that are asked for meanwhile are checked anyway.

import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DamageError } from '../../../domain/errors.ts'
import type { Files } from '../../files/files.ts'
import { presentAccount } from '../accounts/account-rows.ts'
import type { Connection } from '../engine/database.ts'
import { prepareWalk } from '../engine/prepared.ts'
import { accounts, auditEntries, pushes } from '../engine/schema.ts'
import { requireIntactEntry } from '../pushes/audit-chains.ts'
import type { FileRows } from '../pushes/file-rows.ts'
import type { PushRemoval } from '../pushes/push-removal.ts'
import type { PushRow, PushRows } from '../pushes/push-rows.ts'
import type { Damage } from './damage.ts'

const DELAY_MS = 1_000
const STEP = 200
/** Between steps: a hundredth of a core at most, and hardly a page of what others keep in the cache. */
const PAUSE_MS = 25

export type ScrubOptions = {
  connection: Connection
  rows: Pick<PushRows, 'requireIntactSecrets'>
  removal: Pick<PushRemoval, 'removeDamaged'>
  files: Pick<FileRows, 'listOfPush'>
  fileFolder: Pick<Files, 'hasFile'>
  damage: Pick<Damage, 'tell' | 'tellNumber'>
  /** For who has no backup to restore: damaged pushes go, with all that belongs to them. */
  removeDamaged: boolean
  onWarning: (warning: string) => void
}

export function startScrub(options: ScrubOptions): { stop(): Promise<void> } {
  const { connection, rows, removal, files, fileFolder, damage, removeDamaged, onWarning } = options
  const damagedPushes: number[] = []
  let isStopped = false

  async function run(): Promise<void> {
    await readThrough(accounts, async (some) => void findDamaged(some, presentAccount))
    await readThrough(pushes, readPushes)
    await removeFound()
    await readThrough(auditEntries, async (some) => void findDamaged(some, requireIntactEntry))
    damage.tellNumber()
    if (removeDamaged && !isStopped)
      onWarning('All pushes have been looked at: start without --remove-damaged next time.')
  }

  async function readPushes(some: PushRow[]): Promise<void> {
    const damaged = findDamaged(some, rows.requireIntactSecrets)
    findDamaged(some, requireFiles)
    if (removeDamaged) damagedPushes.push(...damaged.map(({ id }) => id))
  }

  /** All together: their logs are searched for in those of all pushes. */
  async function removeFound(): Promise<void> {
    if (isStopped) return
    const removed = await removal.removeDamaged(damagedPushes)
    for (const id of removed) onWarning(`push ${id} was damaged and is removed`)
  }

  /** The content of a file vouches for itself when it is downloaded. */
  function requireFiles({ id, files: number, expiredOn }: PushRow): void {
    if (number === 0 || expiredOn !== null) return
    if (!files.listOfPush(id).every(fileFolder.hasFile)) throw new DamageError(`a file of push ${id}`)
  }

  /** Those for which `check` throws, which is told. */
  function findDamaged<Row>(some: Row[], check: (row: Row) => void): Row[] {
    return some.filter((row) => {
      try {
        check(row)
        return false
      } catch (cause) {
        damage.tell(cause)
        return cause instanceof DamageError
      }
    })
  }

  /** What cannot be read ends this table, not the others. */
  async function readThrough<T extends SQLiteTable & { id: SQLiteColumn }>(
    table: T,
    look: (some: T['$inferSelect'][]) => Promise<void>,
  ): Promise<void> {
    const read = prepareWalk(connection.database, table, STEP)
    try {
      for (let last = 0; !isStopped; await Bun.sleep(PAUSE_MS)) {
        const some = read(last)
        await look(some).catch(damage.tell)
        if (some.length < STEP) return
        last = Number(some.at(-1)?.id)
      }
    } catch (cause) {
      damage.tell(cause)
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
