// What an operator wants to know of the bucket. A question may cost a request, so the bucket is asked only now and then.

import type { BucketReport } from '../files-face.ts'
import type { Reachability } from './reachability.ts'

export type BucketReportOptions = Pick<BucketReport, 'name' | 'countRequests'> & {
  /** Makes a request, so that `reachability` learns how the bucket is now. */
  look: () => Promise<void>
  reachability: Pick<Reachability, 'problem' | 'isFull'>
}

/** The bucket is asked again only after this long. */
const LOOK_EVERY_MS = 10_000
/** How long monitoring waits for the bucket. */
const LOOK_MS = 2_000

export function createBucketReport(options: BucketReportOptions): BucketReport {
  const { name, countRequests, look, reachability } = options
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> = Promise.resolve()

  /** Never takes long: the next call learns what a slow look finds. */
  async function lookNowAndThen(): Promise<void> {
    if (performance.now() - lookedAt >= LOOK_EVERY_MS) {
      lookedAt = performance.now()
      looking = look().catch(() => undefined)
    }
    await Promise.race([looking, Bun.sleep(LOOK_MS)])
  }

  async function findProblem(): Promise<string | null> {
    await lookNowAndThen()
    return reachability.problem()
  }

  return { name, findProblem, isFull: reachability.isFull, countRequests }
}
