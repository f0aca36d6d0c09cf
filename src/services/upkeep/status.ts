// Numbers about the instance for its administrators, without anything that was pushed.

import type { Doubt } from '../../domain/clock.ts'
import { MINUTE, type Now } from '../../domain/time.ts'
import type { PushCounts, Store } from '../../store/face.ts'
import type { BucketReport } from '../../store/files-face.ts'
import type { LastSweep, Sweeper } from './sweeper.ts'

export type Status = PushCounts & {
  /** Bytes of the disk that holds the data folder. */
  free: number
  total: number
  /** Places of the database that were found damaged since the start. */
  damaged: number
  /** The bucket that holds the files; null when they are in the data folder. */
  bucket: { name: string; state: 'works' | 'fails' | 'full' } | null
  lastSweep: LastSweep | null
  /** Null when the clock is trusted. */
  doubt: Doubt | null
}

export type StatusOptions = {
  store: Pick<Store, 'lists' | 'freeSpace' | 'damage' | 'bucket'>
  sweeper: Sweeper
  now: Now
  doubt: () => Doubt | null
}

/** Counting walks an index, so it is done at most once a minute. */
export function createReadStatus({ store, sweeper, now, doubt }: StatusOptions): () => Promise<Status> {
  let counted: { at: number; counts: PushCounts } | null = null

  async function counts(): Promise<PushCounts> {
    if (counted === null || now() - counted.at >= MINUTE)
      counted = { at: now(), counts: await store.lists.countPushes() }
    return counted.counts
  }

  return async () => ({
    ...(await counts()),
    ...(await store.freeSpace.measure()),
    damaged: store.damage.count(),
    bucket: store.bucket && (await lookAt(store.bucket)),
    lastSweep: sweeper.last(),
    doubt: doubt(),
  })
}

async function lookAt({ name, findProblem, isFull }: BucketReport): Promise<Status['bucket']> {
  if ((await findProblem()) !== null) return { name, state: 'fails' }
  return { name, state: isFull() ? 'full' : 'works' }
}
