// Reads, once after the start and a few at a time, every row with a checksum, so that the operator learns of damage before
// somebody asks for a damaged row. Requests check the rows they read in any case.

import { max } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { DamageError, isDomainError, type Medium } from '../../../domain/errors.ts'
import type { Job, JobReport } from '../../../domain/job.ts'
import type { Damage } from '../../every-engine/damage.ts'
import type { SealedFiles } from '../../files-face.ts'
import type { Connection } from '../engine/database.ts'
import { prepareWalk } from '../engine/prepared.ts'
import { auditEntries, pushes } from '../engine/schema.ts'
import type { FileRows } from '../files/file-rows.ts'
import { requireIntactEntry } from '../pushes/audit-chains.ts'
import type { PushRow } from '../pushes/push-checksum.ts'
import type { PushRemoval } from '../pushes/push-removal.ts'
import type { PushRows } from '../pushes/push-rows.ts'

const DELAY_MS = 1_000
const STEP = 200
/** The pause between steps. A step takes a millisecond or two and evicts hardly any cached page. */
const PAUSE_MS = 50

export type ScrubOptions = {
  connection: Connection
  rows: Pick<PushRows, 'requireIntactSecrets'>
  removal: Pick<PushRemoval, 'removeDamaged'>
  files: Pick<FileRows, 'listOfPush'>
  sealedFiles: Pick<SealedFiles, 'has'>
  /** What keeps the files. */
  medium: Medium
  damage: Pick<Damage, 'report' | 'reportNumber'>
  /** For operators without a backup: removes damaged pushes with everything that belongs to them. */
  removeDamaged: boolean
  onWarning: (warning: string) => void
}

export function createScrub(options: ScrubOptions): Job {
  const { connection, rows, removal, files, sealedFiles, damage, medium, removeDamaged, onWarning } = options
  const damagedPushes: number[] = []
  let isStopped = false
  let isUnreachable = false
  let timer: Timer | undefined
  let running: Promise<void> | null = null
  let reportDamage = damage.report

  async function run(): Promise<void> {
    await readThrough(pushes, readPushes)
    await removeFound()
    await readThrough(auditEntries, async (some) => void findDamaged(some, requireIntactEntry))
    damage.reportNumber()
    if (removeDamaged && !isStopped)
      onWarning('All pushes have been checked: start without --remove-damaged next time.')
  }

  async function readPushes(some: PushRow[]): Promise<void> {
    const damaged = findDamaged(some, rows.requireIntactSecrets)
    for (const push of some) await requireFiles(push).catch(reportDamage)
    if (removeDamaged) damagedPushes.push(...damaged.map(({ id }) => id))
  }

  /** Removes all damaged pushes at once, because finding their audit entries takes a walk through those of all pushes. */
  async function removeFound(): Promise<void> {
    if (isStopped) return
    const removed = await removal.removeDamaged(damagedPushes)
    for (const id of removed) onWarning(`push ${id} was damaged and is removed`)
  }

  /** Checks that the files exist. Their content is authenticated when it is downloaded. */
  async function requireFiles({ id, files: number, expiredOn }: PushRow): Promise<void> {
    if (number === 0 || expiredOn !== null || isUnreachable) return
    for (const { fileId, size } of files.listOfPush(id)) {
      if (await isThere({ id: fileId, size })) continue
      // The push may have expired, and its files gone, since its row was read.
      if (files.listOfPush(id).length > 0) throw new DamageError(`a file of push ${id}`, medium)
      return
    }
  }

  /** True also for files that cannot be reached now, which are not looked for again: the operator has been told. */
  async function isThere(file: { id: string; size: number }): Promise<boolean> {
    try {
      return await sealedFiles.has(file)
    } catch (cause) {
      if (!isDomainError(cause, 'files_unreachable')) throw cause
      isUnreachable = true
      return true
    }
  }

  /** Returns the rows that `check` finds damaged, and reports each. */
  function findDamaged<Row>(some: Row[], check: (row: Row) => void): Row[] {
    return some.filter((row) => {
      try {
        check(row)
        return false
      } catch (cause) {
        reportDamage(cause)
        return cause instanceof DamageError
      }
    })
  }

  /** A failure to read ends the walk through this table; the other tables are still read. */
  async function readThrough<T extends SQLiteTable & { id: SQLiteColumn }>(
    table: T,
    look: (some: T['$inferSelect'][]) => Promise<void>,
  ): Promise<void> {
    const read = prepareWalk(connection.database, table, STEP)
    try {
      const newest = readNewest(table)
      for (let last = 0; last < newest && !isStopped; await Bun.sleep(PAUSE_MS)) {
        const some = read(last)
        await look(some).catch(reportDamage)
        last = Number(some.at(-1)?.id ?? newest)
      }
    } catch (cause) {
      reportDamage(cause)
    }
  }

  /** The id of the latest row. Rows that are inserted later are checked only when they are read. */
  function readNewest<T extends SQLiteTable & { id: SQLiteColumn }>(table: T): number {
    const row = connection.orm
      .select({ newest: max(table.id) })
      .from(table)
      .get()
    return Number(row?.newest ?? 0)
  }

  async function report(to: JobReport): Promise<void> {
    await run().catch(reportDamage)
    if (isStopped) return
    to.did()
    to.finished()
  }

  function start(to: JobReport): void {
    reportDamage = (cause) => (cause instanceof DamageError ? damage.report(cause) : to.failed(cause))
    timer = setTimeout(() => {
      running = report(to)
    }, DELAY_MS)
  }

  async function stop(): Promise<void> {
    isStopped = true
    clearTimeout(timer)
    await running
  }

  return { name: 'scrub', start, stop }
}
