// What a move would do, found by looking at the source.

import type { FilesEnd } from '../../store/files/moving-ends.ts'
import type { SourceEnd } from '../../store/moving/ends.ts'
import { TABLE_NAMES } from '../../store/moving/tables.ts'
import type { MovingBucketFolder, MovingCounts, MovingReader } from '../../store/moving-face.ts'
import { batchesOf } from './batches.ts'
import { fileNeeds } from './file-needs.ts'
import { type FilePlan, openPlace, planFiles } from './file-places.ts'
import { findKeyPlaces, type KeyPlaces, keyNeeds } from './keys.ts'
import { requireFiles } from './whole-pushes.ts'
import type { MovePorts, MoveReport, MoveWish } from './wish.ts'

export type Plan = {
  reader: MovingReader
  counts: MovingCounts
  /** Whether files can still be downloaded after a last view. */
  granted: boolean
  /** The folder of the source in its bucket. */
  folder: MovingBucketFolder | null
  files: FilePlan
  keys: KeyPlaces
  /** The reader of the source, which looks for files where they are. */
  readerWith(files: FilesEnd | null): MovingReader
}

/** Of a source that is empty, or was left. */
export const NOTHING: MovingCounts = {
  ...{ accounts: 0, pushes: 0, live: 0, entries: 0 },
  ...{ files: 0, bytes: 0, largest: 0 },
}

/** Before anything is done. */
export function reportOf(planned: Pick<MoveReport, 'from' | 'to' | 'counts' | 'keyFile'>): MoveReport {
  return {
    ...{ ...planned, state: 'planned', compared: null, files: null },
    ...{ damaged: [], needs: [], isDestroyed: false },
  }
}

export async function planMove(wish: MoveWish, { reader }: Pick<SourceEnd, 'reader'>): Promise<Plan> {
  const folder = await reader.readBucketFolder()
  return {
    reader,
    folder,
    counts: await reader.count(),
    granted: await hasGranted(reader),
    files: planFiles(wish, folder),
    keys: findKeyPlaces(wish),
    readerWith: (files) => (files === null ? reader : requireFiles(reader, files.sealed)),
  }
}

async function hasGranted({ readRows }: MovingReader): Promise<boolean> {
  for await (const { items } of batchesOf((after) => readRows('filesDue', after)))
    if (items.some(({ pushId }) => Number(pushId) > 0)) return true
  return false
}

/** What is missing on the command line, a sentence each. */
export function findNeeds(wish: MoveWish, plan: Plan): string[] {
  return [...keyNeeds(plan.keys), ...fileNeeds(wish, plan.files, plan)]
}

/** Reads everything once, and returns the places of what is damaged. */
export async function surveyDamage(plan: Plan, { onProgress, say }: MovePorts): Promise<string[]> {
  const { counts, folder } = plan
  const files = await openPlace(plan.files.from, { folder, counts, held: plan.reader, onWarning: say })
  try {
    const reader = plan.readerWith(files)
    const damaged: string[] = []
    for (const table of TABLE_NAMES)
      for await (const batch of batchesOf((after) => reader.readRows(table, after)))
        damaged.push(...batch.damaged)
    let done = 0
    for await (const batch of batchesOf(reader.readPushes)) {
      damaged.push(...batch.damaged)
      done += batch.items.length
      onProgress('reading', done, counts.pushes)
    }
    return damaged
  } finally {
    await files?.close()
  }
}
