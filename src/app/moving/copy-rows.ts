// Copies all rows of a store into an empty one. A copy that was broken off goes on after the last row that was written.

import { DomainError } from '../../domain/errors.ts'
import { TABLE_NAMES } from '../../store/moving/tables.ts'
import type { Batch, MovedTable, MovingKey, MovingReader, MovingWriter } from '../../store/moving-face.ts'
import { batchesOf } from './batches.ts'

export type Copying = {
  reader: MovingReader
  writer: MovingWriter
  /** Leaves damaged rows out; otherwise they stop the move. */
  skipDamaged: boolean
  /** Told often: pushes of this step that are done. */
  onProgress: (pushes: number) => void
  /** Called after everything that is made durable: tests end the process there. */
  onStep: (step: string) => void
}

export async function copyRows(copying: Copying): Promise<void> {
  const { reader, writer, onProgress, onStep } = copying
  for (const table of TABLE_NAMES) {
    await copyBatches(copying, {
      table,
      read: (after) => reader.readRows(table, after),
      write: (rows) => writer.writeRows(table, rows),
    })
    onStep(`after the table ${table}`)
  }
  let done = 0
  await copyBatches(copying, {
    table: 'pushes',
    read: reader.readPushes,
    write: async (pushes) => {
      await writer.writePushes(pushes)
      done += pushes.length
      onProgress(done)
      onStep('after some pushes')
    },
  })
  await writer.finish(await reader.readFacts())
  onStep('after all rows')
}

type Table<Item> = {
  table: MovedTable | 'pushes'
  read: (after: MovingKey | null) => Promise<Batch<Item>>
  write: (items: readonly Item[]) => Promise<void>
}

async function copyBatches<Item>(copying: Copying, { table, read, write }: Table<Item>): Promise<void> {
  for await (const { items, damaged } of batchesOf(read, await copying.writer.findLast(table))) {
    if (damaged.length > 0) requireToLeaveOut(copying, table, damaged)
    if (items.length > 0) await write(items)
  }
}

/** Accounts cannot be left out: their pushes and tokens name them. */
function requireToLeaveOut(
  { skipDamaged }: Copying,
  table: MovedTable | 'pushes',
  damaged: readonly string[],
): void {
  if (skipDamaged && table !== 'accounts') return
  const remedy =
    table === 'accounts'
      ? 'Remove them there ("oncebox user remove") and add them again, or restore the source from a backup, which expires all active pushes.'
      : 'Leave it out with --skip-damaged: no backup holds what is inside a push.'
  throw new DomainError('conflict', `Damaged in the source: ${presentPlaces(damaged)}. ${remedy}`)
}

const MAX_TOLD = 20

function presentPlaces(places: readonly string[]): string {
  const more = places.length > MAX_TOLD ? ` and ${places.length - MAX_TOLD} more` : ''
  return `${places.slice(0, MAX_TOLD).join(', ')}${more}`
}
