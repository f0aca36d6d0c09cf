// Expires the pushes that were live when a backup was made, since nothing in it opens them.

import type { Visit } from '../../../domain/audit.ts'
import { lossStep } from '../../../domain/visits.ts'
import type { Connection } from '../engine/database.ts'
import { prepareWalk } from '../engine/prepared.ts'
import { pushes } from '../engine/schema.ts'
import { isIntactPush, type PushRow } from '../pushes/push-checksum.ts'
import type { PushRows } from '../pushes/push-rows.ts'
import type { OnProgress } from './unpacked-rows.ts'

const STEP = 500

export type EndingOptions = { now: number; visit: Visit; total: number; onProgress: OnProgress }

/**
 * In steps, each in a transaction of its own. Leaves damaged pushes as they are: what is not as it was written must not
 * get a fitting checksum. Resolves to the number of pushes that were lost.
 */
export async function endLivePushes(
  { database }: Connection,
  rows: Pick<PushRows, 'write'>,
  { now, visit, total, onProgress }: EndingOptions,
): Promise<number> {
  const next = prepareWalk(database, pushes, STEP)
  let [last, done, lost] = [0, 0, 0]
  const endSome = database.transaction((some: PushRow[]) => some.filter((row) => end(row)).length)

  function end(before: PushRow): boolean {
    if (before.expiredOn !== null || !isIntactPush(before)) return false
    return rows.write(before, lossStep(before, visit, now)).lost
  }

  for (;;) {
    const some = next(last)
    lost += endSome(some)
    done += some.length
    onProgress(done, total)
    if (some.length < STEP) return lost
    last = Number(some.at(-1)?.id)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
